"""The example of a language from outside is installed as by users, and is as good as any other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.language_handlers import registry
from llm_sandbox.testing.language_suite import LanguageSuite

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "outside_language"

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the package, installed by pip from this computer alone."""
    # A copy, as building leaves files behind.
    source = shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("source") / "perl")
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "install"]
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target"]
    done = subprocess.run(
        [*pip, *options, str(target), str(source)], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture(scope="module")
def installed(folder: Path) -> Iterator[None]:
    """The package can be found by this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield
    sys.modules.pop("llm_sandbox_perl", None)


@pytest.mark.usefixtures("installed")
class TestPerl(LanguageSuite):
    backend_name = "bubblewrap"
    samples_place = EXAMPLE / "perl.toml"


@pytest.mark.sampled
@pytest.mark.usefixtures("installed")
class TestPerlInDocker(LanguageSuite):
    backend_name = "docker"
    samples_place = EXAMPLE / "perl.toml"
    options = {"image": "llm-sandbox/python:0.1.0"}  # noqa: RUF012 - of the suite

    @classmethod
    def marks_of(cls, language: str) -> list[pytest.MarkDecorator]:
        return [pytest.mark.engine("docker", image="python")]


@pytest.mark.usefixtures("installed")
def test_it_is_listed() -> None:
    assert "perl" in registry.available()


def test_what_the_readme_says_works(folder: Path) -> None:
    """The README's program, in a process of its own, with nothing but the package installed."""
    (code,) = re.findall(
        r"```python\n(from llm_sandbox import .*?)```", (EXAMPLE / "README.md").read_text(), re.S
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ | {"PYTHONPATH": f"{folder}:{ROOT}"},
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("three\ntwo\none\n\nExecutionError(name='Died'")
    assert "line=1" in done.stdout


@pytest.mark.usefixtures("installed")
@pytest.mark.filterwarnings("ignore::llm_sandbox.backends.local.backend.LocalSandboxWarning")
def test_the_shim_is_taken_away() -> None:
    """Nothing of the language stays in a machine that outlives the session."""
    before = set(Path("/tmp").glob(".llm-sandbox-perl-*"))
    with SandboxSession(lang="perl", backend="local") as session:
        brought = set(Path("/tmp").glob(".llm-sandbox-perl-*")) - before
        assert 1 == len(brought)
        assert "7\n" == session.run('print 7, "\\n";').stdout

    assert not any(path.exists() for path in brought)


def test_the_shim_is_correct_perl() -> None:
    """Perl itself has nothing to say about the shim."""
    shim = EXAMPLE / "llm_sandbox_perl" / "shim" / "shim.pl"
    done = subprocess.run(["perl", "-wc", str(shim)], capture_output=True, text=True, timeout=60)

    assert (0, f"{shim} syntax OK\n") == (done.returncode, done.stderr)
