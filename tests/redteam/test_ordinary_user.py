"""The same attacks when the host process is an ordinary user's: in a copy, by an account made for
it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
FILES = {
    "test_walls.py": "",
    "test_privileges.py": "",
    "test_neighbours.py": "",
    "test_transfers.py": "",
    "test_protocol.py": "",
    # The others are the same work of the host whoever it is.
    "test_resources.py": "bomb or gigabytes or address or disk or inodes or by_nothing or run_out",
}
"""Files, and which of their tests."""


@pytest.fixture(scope="module")
def home(plain_user: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of the user's with a copy of the tree and an interpreter that the user may start."""
    if os.geteuid() != 0:
        pytest.skip("the whole suite runs as an ordinary user already")
    if os.environ.get("LLM_SANDBOX_TEST_USER_STAGE"):
        pytest.skip("all of it runs as an ordinary user right after this")
    program = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if (
        program is None
        or version
        not in subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    ):
        pytest.skip(f"there is no Python {version} that other users may start")
    packages = Path(sysconfig.get_path("purelib"))
    if not all(folder.stat().st_mode & 0o005 == 0o005 for folder in [packages, *packages.parents]):
        pytest.skip("other users may not read this environment's packages")
    folder = Path(
        subprocess.check_output(["mktemp", "-d", "/var/tmp/redteam-XXXXXX"], text=True).strip()
    )
    for name in ("llm_sandbox", "tests/redteam"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests/plugins").mkdir()
    shutil.copy(ROOT / "tests/plugins/accounts.py", folder / "tests/plugins")
    shutil.copy(ROOT / "pyproject.toml", folder)
    subprocess.run([program, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    theirs = folder / "env" / "lib" / f"python{version}" / "site-packages"
    shutil.rmtree(theirs)
    theirs.symlink_to(packages)
    (folder / "home").mkdir()
    subprocess.run(["chown", "-R", f"{plain_user}:{plain_user}", str(folder)], check=True)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("file", FILES)
def test_the_walls_hold_for_an_ordinary_user(home: Path, plain_user: int, file: str) -> None:
    """Every attack of the file fails as well when the sandbox was made without any privilege."""
    done = subprocess.run(
        [
            *("runuser", "-u", pwd.getpwuid(plain_user).pw_name, "--"),
            *("env", "-i", f"HOME={home / 'home'}", "PATH=/usr/local/bin:/usr/bin:/bin"),
            *(str(home / "env" / "bin" / "python3"), "-m", "pytest", "-q", "--tb=short"),
            *(
                "-p",
                "no:cacheprovider",
                "-p",
                "tests.plugins.accounts",
                "-k",
                FILES[file],
                f"tests/redteam/{file}",
            ),
        ],
        cwd=home,
        capture_output=True,
        text=True,
        timeout=220,
    )
    print(done.stdout[-3000:])
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
