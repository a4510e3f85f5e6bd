"""Libraries for sessions in containers: chosen and fetched outside, brought into the engine's
volume, and used without a network.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.python_environment import LAYERS_ROOT
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import (
    LibraryInstallationError,
    ValidationError,
)
from llm_sandbox.packages.image_python import ImagePython
from llm_sandbox.packages.store import open_store
from llm_sandbox.settings import get_settings
from tests.containers.wheels import make_wheel, only_from

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llm_sandbox.backends.containers.backend import ContainerBackend
    from llm_sandbox.backends.containers.engine import Engine

pytestmark = [pytest.mark.slow, pytest.mark.engine]

NOWHERE = "http://127.0.0.1:9/simple"
FILLERS = "llm-sandbox-layers-"


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
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package index answers."""
    monkeypatch.setenv("PIP_INDEX_URL", NOWHERE)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", NOWHERE)
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    monkeypatch.setenv("PIP_RETRIES", "1")


@pytest.fixture(autouse=True)
def nothing_left(engine: Engine, cache: Path) -> Iterator[None]:
    """No container through which something was brought stays, and no half installation."""
    yield
    assert fillers(engine) == []
    staging = cache / "layers-index" / "staging"
    assert not staging.exists() or list(staging.iterdir()) == []


def fillers(engine: Engine) -> list[str]:
    found = engine.client.containers.list(all=True, filters={"name": FILLERS})
    return [str(container.name) for container in found]


def run(session: ArtifactSandboxSession, code: str) -> list[str]:
    result = session.run(code)
    assert result.stderr == ""
    return result.stdout.split()


# --- what sessions get


def test_a_library_is_installed_once_and_used_without_network(
    backend: ContainerBackend, request: pytest.FixtureRequest
) -> None:
    with ArtifactSandboxSession(backend, libraries=["tabulate"]) as session:
        where, cached, is_compiled, *interfaces = run(
            session,
            "import os, socket, tabulate\n"
            "print(tabulate.__file__, tabulate.__cached__, os.path.exists(tabulate.__cached__))\n"
            "print(*(name for _, name in socket.if_nameindex()))",
        )
        assert where.startswith(f"{LAYERS_ROOT}/")
        assert is_compiled == "True"
        assert cached.startswith(where.rpartition("/")[0])
        assert interfaces == ["lo"]

        request.getfixturevalue("offline")
        with ArtifactSandboxSession(backend) as second:
            started = time.perf_counter()
            second.install(["tabulate"])
            assert time.perf_counter() - started < 2
            assert run(second, "import tabulate; print(tabulate.__file__)") == [where]
            assert (
                where
                in second.execute_command(
                    "python3 -c 'import tabulate; print(tabulate.__file__)'"
                ).stdout.split()
            )


def test_a_run_can_bring_its_libraries(backend: ContainerBackend) -> None:
    with ArtifactSandboxSession(backend) as session:
        run(session, "kept = 42")
        result = session.run("import tabulate; print(kept, 'tabulate')", libraries=["tabulate"])
        assert result.stdout.split() == ["42", "tabulate"]


def test_layers_cannot_be_changed_from_inside(backend: ContainerBackend) -> None:
    with ArtifactSandboxSession(backend, libraries=["tabulate"]) as session:
        attempts = run(
            session,
            """
import os, tabulate
layer = os.path.dirname(os.path.dirname(tabulate.__file__))
def attempt(call, *args):
    try:
        call(*args)
    except OSError as error:
        print(error.errno)
    else:
        print('done')
attempt(open, layer + '/new', 'w')
attempt(open, tabulate.__file__, 'a')
attempt(os.remove, tabulate.__file__)
attempt(os.chmod, layer, 0o777)
attempt(os.rename, layer, layer + 'x')
attempt(os.mkdir, '/opt/layers/other')
attempt(os.remove, layer + '.complete')
attempt(open, '/sandbox/new', 'w')
""",
        )
        assert len(attempts) == 8
        assert set(attempts[:7]) <= {"1", "13", "30"}
        assert attempts[7] == "done"


def test_what_the_image_has_stays_and_native_code_works(backend: ContainerBackend) -> None:
    with ArtifactSandboxSession(backend) as session:
        version = run(session, "import numpy; print(numpy.__version__)")
        session.install(["numexpr"])
        assert run(session, "print(numpy.__version__)") == version
        found = run(
            session,
            "import numexpr, numpy; print(numexpr.evaluate('a + 1', {'a': numpy.array([41])})[0])\n"
            "print(numexpr.__file__); print(numpy.__file__)",
        )
        assert found[0] == "42"
        assert found[1].startswith(LAYERS_ROOT)
        assert not found[2].startswith(LAYERS_ROOT)
        session.install(["numpy", "pandas"])
        assert run(session, "import pandas; print(pandas.__file__)")[0].startswith("/opt/python")


def test_another_version_than_the_images_takes_its_place(
    backend: ContainerBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = tmp_path / "wheels"
    make_wheel(wheels, "seaborn", {"seaborn.py": "__version__ = '0.0.1'\n"}, version="0.0.1")
    only_from(wheels, monkeypatch)
    with ArtifactSandboxSession(backend) as session:
        code = "import seaborn; print(seaborn.__version__, seaborn.__file__)"
        here, _ = run(session, code)
        session.install([f"seaborn<{here}"])
        version, where = run(session, code)
        assert version == "0.0.1"
        assert where.startswith(LAYERS_ROOT)


def test_only_what_stands_in_the_way_gives_way(
    backend: ContainerBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = backend.create(MachineSpec())
    try:
        place = backend.layers(machine)
        store, builder = open_store(backend, place)
        assert place.image is not None
        has = ImagePython(place.image, tmp_path / "records").target().distributions
        wheels = tmp_path / "wheels"
        for name in ("packaging", "pyparsing"):
            make_wheel(wheels, name, {f"{name}.py": ""}, version=has[name])
            make_wheel(wheels, name, {f"{name}.py": ""}, version="9999.0")
        make_wheel(
            wheels, "wants_new_demo", {"x.py": ""}, requires=("packaging>=9999", "pyparsing")
        )
        only_from(wheels, monkeypatch)
        layer = store.install(["wants-new-demo"], builder=builder)
        assert layer.distributions == {"packaging": "9999.0", "wants-new-demo": "1.0"}
        assert layer.shadows == ("packaging",)
    finally:
        machine.destroy()


# --- what goes wrong


def test_a_failure_has_pips_words(backend: ContainerBackend) -> None:
    name = "llm-sandbox-no-such-distribution"
    with ArtifactSandboxSession(backend) as session:
        with pytest.raises(LibraryInstallationError) as caught:
            session.install([name])
        assert f"No matching distribution found for {name}" in caught.value.message
        assert run(session, "print(1)") == ["1"]
        for hostile in ("--index-url=http://evil", "demo @ file:///x", "../x", "a;b"):
            with pytest.raises(ValidationError):
                session.install([hostile])


@pytest.mark.usefixtures("offline")
def test_without_a_network_the_hint_says_so(backend: ContainerBackend) -> None:
    with (
        ArtifactSandboxSession(backend) as session,
        pytest.raises(LibraryInstallationError) as caught,
    ):
        session.install(["humanize"])
    assert "could not be reached" in (caught.value.hint or "")


def test_a_package_that_has_no_wheel_is_refused(
    backend: ContainerBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "evil-1.0.tar.gz").write_bytes(b"")
    (wheels / "other-1.0-cp27-cp27m-macosx_10_9_intel.whl").write_bytes(b"")
    only_from(wheels, monkeypatch)
    monkeypatch.setenv("PIP_NO_BINARY", ":all:")
    with ArtifactSandboxSession(backend) as session:
        for name in ("evil", "other"):
            with pytest.raises(LibraryInstallationError, match="No matching distribution"):
                session.install([name])


INSTALL = """
import signal, sys
from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.limits import Deadline
from llm_sandbox.packages.store import open_store
signal.signal(signal.SIGINT, signal.default_int_handler)
backend = get_backend(sys.argv[1])
machine = backend.create(MachineSpec())
place = backend.layers(machine)
store, builder = open_store(backend, place)
words = []
def say(text):
    words.append(text)
    if sys.argv[3:]: print(text, flush=True)
try:
    layer = store.install([sys.argv[2]], builder=builder, progress=say)
    place.image.deliver(layer.digest, layer.path, Deadline.after(60))
    print(layer.digest, sum(w.startswith("installing") for w in words))
except KeyboardInterrupt:
    print("interrupted", flush=True)
machine.destroy()
"""


def test_two_processes_install_the_same_once(backend: ContainerBackend) -> None:
    # Of equal images one engine finds what was installed for the other.
    command = [
        sys.executable,
        "-c",
        INSTALL,
        backend.name,
        {"docker": "cowsay", "podman": "cowsay>=1"}[backend.name],
    ]
    pair = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate(timeout=100)[0].split() for process in pair]
    assert answers[0][0] == answers[1][0]
    assert sorted(answer[1] for answer in answers) == ["0", "1"]


def test_an_interrupted_installation_leaves_nothing(backend: ContainerBackend) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/simple"
        process = subprocess.Popen(
            [sys.executable, "-c", INSTALL, backend.name, "humanize", "talk"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PIP_INDEX_URL": url},
        )
        connection, _ = server.accept()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        connection.close()
    assert out.splitlines() == ["resolving humanize", "interrupted"]
