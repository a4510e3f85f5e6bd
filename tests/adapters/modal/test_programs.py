"""Programs in the style of Modal's guide say what they should, each as it is."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.adapters import modal
from llm_sandbox.adapters.modal.image_parts import SnapshotBase

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow


PROGRAMS = Path(__file__).parent / "programs"


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
        image._base.snapshot.delete()
    expected = program.with_suffix(".txt").read_text(encoding="utf-8")
    assert expected == capsys.readouterr().out


@pytest.mark.sampled
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
