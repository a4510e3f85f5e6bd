"""Content of the wheel, compared with the tree."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
IGNORED_FOLDERS = {"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"}


def package_files() -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "llm_sandbox").rglob("*")
        if path.is_file()
        and path.suffix != ".pyc"
        and not IGNORED_FOLDERS.intersection(path.relative_to(ROOT).parts)
    }


def build(target: Path, *options: str) -> Path:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), *options]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def wheel_files(folder: Path) -> set[str]:
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    return {name for name in names if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an sdist, and with the wheel that was built from it."""
    return build(tmp_path_factory.mktemp("both"))


def test_wheel_from_the_tree_is_the_package(tmp_path: Path) -> None:
    """A wheel built beside the link holds each file of the package and no other."""
    assert wheel_files(build(tmp_path, "--wheel")) == package_files()


def test_wheel_from_the_sdist_is_the_package(both: Path) -> None:
    """The sdist alone is enough to build the same wheel."""
    assert wheel_files(both) == package_files()


@pytest.mark.parametrize(
    "name",
    [
        "llm_sandbox/py.typed",
        "llm_sandbox/guest/__init__.py",
        "llm_sandbox/language_handlers/__init__.py",
        "llm_sandbox/language_handlers/python/shim/__init__.py",
    ],
)
def test_wheel_holds(both: Path, name: str) -> None:
    assert name in wheel_files(both)


def test_sdist_holds_the_package_once(both: Path) -> None:
    """The sdist has the package at its real place, and nothing under the link's name."""
    (sdist,) = both.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert package_files() <= names
    assert not [name for name in names if name.startswith("language_handlers")]


def test_metadata_names_the_command_and_the_licence(both: Path) -> None:
    (wheel,) = both.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (entry_points,) = (n for n in archive.namelist() if n.endswith("/entry_points.txt"))
        (metadata,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        commands = archive.read(entry_points).decode()
        fields = archive.read(metadata).decode().splitlines()
    assert "llm-sandbox = llm_sandbox.cli.entry:main" in commands
    assert "llm-sandbox-mcp = llm_sandbox.mcp_server.server:main" in commands
    assert "License-Expression: MIT" in fields
    assert "Requires-Python: >=3.11" in fields
