"""The Python of an image: what pip is told of it, and what only it can compile."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError, UnsupportedError
from llm_sandbox.limits import Deadline
from llm_sandbox.packages.builders import HostBuilder, SandboxBuilder, builder_for_image
from llm_sandbox.packages.image_python import ImageBuilder, ImagePython
from llm_sandbox.packages.store import open_store
from llm_sandbox.settings import get_settings
from tests.containers.wheels import make_wheel, only_from

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llm_sandbox.backends.containers.backend import ContainerBackend
    from llm_sandbox.backends.containers.engine import Engine
    from llm_sandbox.backends.layers import ImageLayers

pytestmark = [pytest.mark.slow, pytest.mark.engine]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What is installed here is forgotten with the module."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLM_SANDBOX_CACHE_DIR", str(folder))
        get_settings.cache_clear()
        yield folder
    get_settings.cache_clear()


@pytest.fixture
def backend(cache: Path, engine: Engine) -> ContainerBackend:
    return get_backend(engine.name)  # type: ignore[return-value]


@pytest.fixture
def image(backend: ContainerBackend) -> Iterator[ImageLayers]:
    """The image of the language, as a session's machine has it."""
    machine = backend.create(MachineSpec())
    layers = backend.layers(machine).image
    assert layers is not None
    yield layers
    machine.destroy()


def test_conditions_are_judged_by_the_images_python(
    image: ImageLayers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: told the truth, pip takes the other branch of the condition."""
    make_wheel(tmp_path, "old_demo", {"old_demo.py": ""})
    make_wheel(tmp_path, "new_demo", {"new_demo.py": ""})
    make_wheel(
        tmp_path,
        "either_demo",
        {"either_demo.py": ""},
        requires=("old-demo; python_version < '3.11'", "new-demo; python_version >= '3.11'"),
    )
    only_from(tmp_path, monkeypatch)
    target = ImagePython(image, tmp_path / "records").target()
    for version, wanted in ((target.version, "new_demo.py"), ((3, 10, 1), "old_demo.py")):
        staging = tmp_path / f"staging-{wanted}"
        staging.mkdir()
        told = replace(target, version=version, abi=f"cp{version[0]}{version[1]}")
        HostBuilder(told).build(staging, ["either-demo"], Deadline.after(60), [].append)
        names = {path.name for path in (staging / "site").glob("*.py")}
        assert names == {"either_demo.py", wanted}


def test_byte_code_that_only_the_image_can_make(
    image: ImageLayers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = tmp_path / "wheels"
    files = {
        "demo_package/__init__.py": "x = 'source'\n",
        "demo_package/deep/er/module.py": "def f():\n    return 1\n",
        "demo_package/__pycache__/__init__.cpython-311.pyc": "junk",
        "demo_package/__pycache__/gone.cpython-311.pyc": "junk",
        "broken.py": "x =",
    }
    make_wheel(wheels, "demo_package", files)
    only_from(wheels, monkeypatch)
    staging = tmp_path / "staging"
    staging.mkdir()
    # As for an image whose Python is of another version than this.
    target = replace(ImagePython(image, tmp_path / "records").target(), magic="00000000")
    assert not target.compiles_here
    words: list[str] = []
    builder = ImageBuilder(image, target)
    builder.build(staging, ["demo-package"], Deadline.after(100), words.append)
    assert [word.split()[0] for word in words] == ["resolving", "installing", "compiling"]
    made = sorted(staging.joinpath("site").rglob("*.pyc"))
    assert [path.name.partition(".")[0] for path in made] == ["__init__", "module"]
    for path in made:
        assert path.read_bytes()[4:8] == b"\x01\0\0\0"  # depends on the source alone
        assert b"/sandbox" not in path.read_bytes()


def test_an_image_without_python_is_told_from_others(
    backend: ContainerBackend, bare_image: str
) -> None:
    backend = type(backend)(ContainerOptions(image=bare_image))
    machine = backend.create(MachineSpec())
    try:
        with pytest.raises(UnsupportedError, match="it has no Python") as caught:
            open_store(backend, backend.layers(machine))
        assert bare_image in str(caught.value)
    finally:
        machine.destroy()
        backend.close()


def test_pip_is_held_by_a_sandbox_where_there_is_one(image: ImageLayers, tmp_path: Path) -> None:
    builder = builder_for_image(ImagePython(image, tmp_path / "records").target())
    try:
        get_backend("bubblewrap").check()
    except SandboxError:
        assert isinstance(builder, HostBuilder)
    else:
        assert isinstance(builder, SandboxBuilder)
