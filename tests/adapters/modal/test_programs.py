"""Programs in the style of Modal's guide say what they should, each as it is."""

from __future__ import annotations

import runpy
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.adapters import modal
from llm_sandbox.adapters.modal.image_parts import SnapshotBase
from llm_sandbox.exceptions import BackendError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.backends.snapshot import Snapshot

PROGRAMS = Path(__file__).parent / "programs"
REMOVAL_S = 40.0


def programs(folder: str) -> list[object]:
    return [pytest.param(path, id=path.stem) for path in sorted((PROGRAMS / folder).glob("*.py"))]


@pytest.fixture(scope="module")
def engine() -> Iterator[None]:
    """The Docker engine, from which the images that the module has made are removed."""
    import docker

    client = docker.from_env()

    def ours() -> set[str]:
        """Those of this adapter: other tests build images meanwhile."""
        found = set()
        for image in client.images.list():
            own = f"llm-sandbox/template:{image.id.removeprefix('sha256:')[:16]}"
            found |= {name for name in image.tags if name == own or "/named/of-tests:" in name}
        return found

    before = ours()
    yield
    for name in ours() - before:
        client.images.remove(name, force=True)
    client.close()


def check(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(program), run_name="__main__")
    image = names.get("image")
    if isinstance(image, modal.Image) and isinstance(image._base, SnapshotBase):
        _delete(image._base.snapshot)
    expected = program.with_suffix(".txt").read_text(encoding="utf-8")
    assert expected == capsys.readouterr().out


def _delete(snapshot: Snapshot) -> None:
    """Remove what a program has saved, once the engine has removed the containers of it."""
    end = time.monotonic() + REMOVAL_S
    while True:
        try:
            snapshot.delete()
        except BackendError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


@pytest.mark.parametrize("program", programs("anywhere"))
def test_program(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(program, capsys)


@pytest.mark.engine("docker", "python")
@pytest.mark.parametrize("program", programs("images"))
def test_program_with_an_image(
    program: Path, capsys: pytest.CaptureFixture[str], engine: None
) -> None:
    modal.configure(backend="docker")
    check(program, capsys)


@pytest.mark.engine("docker", "python")
def test_packages_come_from_this_machine(tmp_path: Path, engine: None) -> None:
    """The build itself reaches no index."""
    modal.configure(backend="docker")
    with zipfile.ZipFile(tmp_path / "of_tests-1.5-py3-none-any.whl", "w") as wheel:
        wheel.writestr("of_tests.py", "ANSWER = 42\n")
        facts = "of_tests-1.5.dist-info"
        wheel.writestr(f"{facts}/METADATA", "Metadata-Version: 2.1\nName: of-tests\nVersion: 1.5\n")
        tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{facts}/WHEEL", tag)
        wheel.writestr(f"{facts}/RECORD", "")
    image = modal.Image.debian_slim().pip_install(
        "of-tests>1", find_links=str(tmp_path), extra_options="--no-index"
    )
    look = "import of_tests, numpy; print(of_tests.ANSWER)"
    sandbox = modal.Sandbox.create("python3", "-c", look, image=image, block_network=True)
    assert ("42\n", "") == (sandbox.stdout.read(), sandbox.stderr.read())


@pytest.mark.engine("docker", "python")
def test_example_is_the_same_in_a_container(
    capsys: pytest.CaptureFixture[str], engine: None
) -> None:
    modal.configure(backend="docker")
    check(PROGRAMS / "anywhere" / "example_of_exec.py", capsys)


@pytest.mark.parametrize("name", ["code_runner", "web_server"])
def test_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(__file__).parents[3] / "examples" / "modal"
    runpy.run_path(str(folder / f"{name}.py"), run_name="__main__")
    says = {
        "code_runner": 'exit code 0\n{"mean": 3.875, "most": 9}\nendless code: -1\n',
        "web_server": "hello from the sandbox\n",
    }
    assert says[name] in capsys.readouterr().out


def test_there_are_fifteen() -> None:
    assert 15 <= len(programs("anywhere")) + len(programs("images"))
