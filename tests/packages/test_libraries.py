"""Layers of libraries, installed for real: pip, in a sandbox, from the configured package index."""

from __future__ import annotations

import importlib.metadata
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from llm_sandbox.backends.base import MachineSpec, ProcessSpec
from llm_sandbox.backends.bubblewrap.backend import BubblewrapBackend
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    LibraryInstallationError,
    SandboxTimeoutError,
)
from llm_sandbox.packages.builders import HostBuilder, SandboxBuilder
from llm_sandbox.packages.store import LayerStore, open_store
from llm_sandbox.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.packages.store import Layer

pytestmark = pytest.mark.slow

NOWHERE = "http://127.0.0.1:9/simple"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLM_SANDBOX_CACHE_DIR", str(folder))
        get_settings.cache_clear()
        yield folder
    get_settings.cache_clear()


@pytest.fixture(scope="module")
def backend(cache: Path) -> Iterator[BubblewrapBackend]:
    made = BubblewrapBackend()
    try:
        made.check()
    except BackendUnavailableError as error:
        pytest.skip(f"bubblewrap does not work here: {error}")
    yield made
    made.close()


@pytest.fixture
def store(backend: BubblewrapBackend) -> LayerStore:
    return open_store(backend)[0]


@pytest.fixture
def builder(backend: BubblewrapBackend) -> SandboxBuilder:
    return SandboxBuilder(backend)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package index answers."""
    monkeypatch.setenv("PIP_INDEX_URL", NOWHERE)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", NOWHERE)
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    monkeypatch.setenv("PIP_RETRIES", "1")


def leftovers(cache: Path) -> list[Path]:
    return list((cache / "layers-index" / "staging").iterdir())


def run_inside(backend: BubblewrapBackend, layer: Layer, code: str) -> tuple[str, str]:
    """Run Python in a user's sandbox, which has no network, with the layer on its path."""
    machine = backend.create(MachineSpec())
    try:
        env = {**machine.base_env(), "PYTHONPATH": layer.guest_path}
        raw = machine.start(ProcessSpec((machine.python(), "-c", code), env, timeout_s=60))
        with os.fdopen(raw.stdout) as out, os.fdopen(raw.stderr) as err:
            said = out.read(), err.read()
        raw.ending.wait(10)
        return said
    finally:
        machine.destroy()


def make_wheel(folder: Path, name: str, files: dict[str, str], requires: str = "") -> None:
    """Make a wheel of version 1.0."""
    folder.mkdir(parents=True, exist_ok=True)
    about = f"{name}-1.0.dist-info"
    need = f"Requires-Dist: {requires}\n" if requires else ""
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        wheel.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{need}"
        )
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")


def test_a_library_is_installed_once_and_used_without_network(
    backend: BubblewrapBackend,
    store: LayerStore,
    builder: SandboxBuilder,
    request: pytest.FixtureRequest,
) -> None:
    words: list[str] = []
    assert store.find(["tabulate"]) is None
    layer = store.install(["tabulate"], builder=builder, progress=words.append)
    assert [word.split()[0] for word in words] == ["resolving", "installing", "compiling"]
    assert list(layer.distributions) == ["tabulate"]
    assert layer.shadows == ()

    request.getfixturevalue("offline")
    started = time.perf_counter()
    found = LayerStore(layer.path.parent).find(["tabulate"])
    assert time.perf_counter() - started < 0.05
    assert found == layer
    assert store.install(["tabulate"], builder=builder) == layer

    out, err = run_inside(
        backend,
        layer,
        "import tabulate, socket; print(tabulate.__file__, tabulate.__cached__);"
        "print([n for _, n in socket.if_nameindex()])",
    )
    assert err == ""
    places, interfaces = out.splitlines()
    assert all(place.startswith(layer.guest_path) for place in places.split())
    assert (layer.path / Path(places.split()[1]).relative_to(layer.guest_path)).exists()
    assert interfaces == "['lo']"


def test_a_layer_cannot_be_changed_from_inside(
    backend: BubblewrapBackend, store: LayerStore, builder: SandboxBuilder
) -> None:
    layer = store.install(["tabulate"], builder=builder)
    out, _ = run_inside(
        backend,
        layer,
        f"""
import os
layer = {layer.guest_path!r}
def attempt(call, *args):
    try:
        call(*args)
    except OSError as error:
        print(error.errno)
    else:
        print('done')
attempt(open, layer + '/new', 'w')
attempt(open, layer + '/tabulate/__init__.py', 'a')
attempt(os.remove, layer + '/tabulate/__init__.py')
attempt(os.chmod, layer, 0o777)
attempt(os.rename, layer, layer + 'x')
attempt(os.mkdir, '/opt/layers/other')
print(os.listdir('/opt/layers') == [os.path.basename(layer)] or 'others')
print(any(name.startswith('layers-') for name in os.listdir('/opt')))
""",
    )
    *attempts, _, index_visible = out.split()
    assert len(attempts) == 6
    assert set(attempts) <= {"1", "13", "30"}
    assert index_visible == "False"


def test_requests_with_the_same_answer_share_a_folder(
    store: LayerStore, builder: SandboxBuilder
) -> None:
    first = store.install(["tabulate"], builder=builder)
    second = store.install(["tabulate>=0"], builder=builder)
    assert first == second


def test_what_the_environment_has_is_not_installed_again(
    store: LayerStore, builder: SandboxBuilder
) -> None:
    layer = store.install(["numpy", "pip"], builder=builder)
    assert layer.distributions == {}
    assert list(layer.path.iterdir()) == []


def test_another_version_than_the_environments_is_named(
    backend: BubblewrapBackend, store: LayerStore, builder: SandboxBuilder
) -> None:
    here = importlib.metadata.version("packaging")
    layer = store.install([f"packaging<{here}"], builder=builder)
    assert layer.shadows == ("packaging",)
    assert layer.distributions["packaging"] != here
    out, _ = run_inside(backend, layer, "import packaging; print(packaging.__version__)")
    assert out.strip() == layer.distributions["packaging"]


def test_a_failure_has_pips_words_and_leaves_nothing(
    cache: Path, store: LayerStore, builder: SandboxBuilder
) -> None:
    name = "llm-sandbox-no-such-distribution"
    before = sorted(cache.rglob("*"))
    with pytest.raises(LibraryInstallationError) as caught:
        store.install([name], builder=builder)
    error = caught.value
    assert f"No matching distribution found for {name}" in error.message
    assert "Could not find a version that satisfies the requirement" in error.output
    assert error.packages == (name,)
    assert "\x1b" not in error.output
    assert leftovers(cache) == []
    new = {path for path in cache.rglob("*") if path not in before}
    assert {path.parent.name for path in new} <= {"locks", "layers-index"}
    assert store.find([name]) is None


def test_a_source_distribution_is_refused(
    tmp_path: Path,
    store: LayerStore,
    builder: SandboxBuilder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "evil-1.0.tar.gz").write_bytes(b"")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_BINARY", ":all:")
    with pytest.raises(LibraryInstallationError, match="No matching distribution found for evil"):
        store.install(["evil"], builder=builder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's sandboxes read as another user")
def test_packages_that_only_root_may_read(
    tmp_path: Path,
    store: LayerStore,
    builder: SandboxBuilder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(LibraryInstallationError, match="Permission denied") as caught:
        store.install(["secret-demo"], builder=builder)
    assert "readable for all" in str(caught.value)


@pytest.mark.usefixtures("offline")
def test_without_a_network_the_hint_says_so(store: LayerStore, builder: SandboxBuilder) -> None:
    with pytest.raises(LibraryInstallationError) as caught:
        store.install(["humanize"], builder=builder)
    assert caught.value.hint is not None
    assert "could not be reached" in caught.value.hint


def test_settings_of_pip_work_inside_and_are_written_nowhere(
    tmp_path: Path,
    backend: BubblewrapBackend,
    store: LayerStore,
    builder: SandboxBuilder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_wheel(tmp_path / "more", "needed_demo", {"needed_demo.py": "answer = 42\n"})
    make_wheel(
        tmp_path / "wheels",
        "private_demo",
        {"private_demo/__init__.py": "from needed_demo import answer\n"},
        "needed-demo",
    )
    configuration = tmp_path / "pip.conf"
    configuration.write_text(
        f"[global]\nfind-links =\n  {tmp_path}/wheels\n  file://{tmp_path}/more\n"
        f"extra-index-url = http://user:hunter2@127.0.0.1:9/simple\nretries = 0\n"
    )
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_RETRIES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    layer = store.install(["private_demo"], builder=builder)
    assert layer.distributions == {"needed-demo": "1.0", "private-demo": "1.0"}
    out, _ = run_inside(backend, layer, "import private_demo; print(private_demo.answer)")
    assert out == "42\n"
    for path in layer.path.parent.parent.rglob("*"):
        assert not path.is_file() or b"hunter2" not in path.read_bytes(), path


def test_what_a_package_ships_is_compiled_from_its_sources(
    tmp_path: Path,
    backend: BubblewrapBackend,
    store: LayerStore,
    builder: SandboxBuilder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tag = sys.implementation.cache_tag
    shipped = f"shipped_demo/__pycache__/__init__.{tag}.pyc"
    files = {"shipped_demo/__init__.py": "x = 'source'\n", shipped: "junk", "broken.py": "x ="}
    make_wheel(tmp_path / "wheels", "shipped_demo", files)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    layer = store.install(["shipped_demo"], builder=builder)
    assert (layer.path / shipped).read_bytes() != b"junk"
    out, _ = run_inside(backend, layer, "import shipped_demo; print(shipped_demo.x)")
    assert out == "source\n"


def test_two_processes_install_the_same_once(cache: Path) -> None:
    program = """
import sys
from llm_sandbox.backends.bubblewrap.backend import BubblewrapBackend
from llm_sandbox.packages.store import open_store
store, builder = open_store(BubblewrapBackend())
words = []
layer = store.install(["cowsay"], builder=builder, progress=words.append)
print(layer.digest, sum(w.startswith("installing") for w in words))
"""
    command = [sys.executable, "-c", program]
    pair = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate(timeout=100)[0].split() for process in pair]
    assert answers[0][0] == answers[1][0]
    assert sorted(answer[1] for answer in answers) == ["0", "1"]
    assert leftovers(cache) == []


@pytest.fixture
def silent_index(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A package index that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/simple"
        monkeypatch.setenv("PIP_INDEX_URL", url)
        yield server


@pytest.mark.usefixtures("silent_index")
def test_a_timeout_leaves_nothing(cache: Path, store: LayerStore, builder: SandboxBuilder) -> None:
    started = time.monotonic()
    with pytest.raises(SandboxTimeoutError) as caught:
        store.install(["humanize"], builder=builder, timeout_s=3)
    assert time.monotonic() - started < 15
    assert caught.value.timeout_duration == 3
    assert leftovers(cache) == []


def test_a_killed_installation_is_cleaned_up_by_the_next(
    cache: Path,
    store: LayerStore,
    builder: SandboxBuilder,
    silent_index: socket.socket,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = """
from llm_sandbox.backends.bubblewrap.backend import BubblewrapBackend
from llm_sandbox.packages.store import open_store
store, builder = open_store(BubblewrapBackend())
store.install(["humanize"], builder=builder)
"""
    process = subprocess.Popen([sys.executable, "-c", program])
    connection, _ = silent_index.accept()
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    assert connection.recv(1 << 16)
    gone, alive = psutil.wait_procs(family, timeout=15)
    assert alive == []
    assert len(gone) >= 2
    connection.close()
    assert len(leftovers(cache)) == 1
    monkeypatch.undo()
    store.install(["tabulate<99"], builder=builder)
    assert leftovers(cache) == []


def test_no_process_stays(cache: Path, store: LayerStore, builder: SandboxBuilder) -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    store.install(["tabulate<98"], builder=builder)
    after = {child.pid for child in psutil.Process().children(recursive=True)}
    assert after <= before
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors
    assert leftovers(cache) == []


def test_the_building_sandbox_sees_nothing_else_of_the_host(
    tmp_path: Path, backend: BubblewrapBackend
) -> None:
    staging = tmp_path / "staging"
    staging.mkdir(mode=0o700)
    (tmp_path / "wheels").mkdir()
    with backend.builder(staging, binds={"/pip/wheels": str(tmp_path / "wheels")}) as machine:
        code = (
            "import os; print(os.getuid(), os.listdir('/pip'), sorted(os.listdir('/opt')),"
            " os.path.exists('/root'), os.listdir('/home'), os.access('/pip/wheels', os.W_OK));"
            "open('/build/x', 'w')"
        )
        raw = machine.start(ProcessSpec((machine.python(), "-c", code), machine.base_env()))
        with os.fdopen(raw.stdout) as out, os.fdopen(raw.stderr) as err:
            said, complaint = out.read(), err.read()
        ended = raw.ending.wait(10)
        assert complaint == ""
        assert ended is not None
        assert ended.exit_code == 0
        assert said.startswith("65532 ['wheels'] ")
        assert "layers" not in said
        assert said.rstrip().endswith("False [] False")
    owner = (staging / "x").stat().st_uid
    assert (owner != 0) if os.geteuid() == 0 else (owner == os.geteuid())


def test_the_local_backend_installs_with_plain_processes(tmp_path: Path) -> None:
    root = tmp_path / "layers"
    store = LayerStore(root, guest_root=str(root))
    layer = store.install(["tabulate"], builder=HostBuilder())
    assert layer.guest_path == str(layer.path)
    assert (layer.path / "tabulate" / "__init__.py").exists()
    assert store.find(["tabulate"]) == layer


@pytest.mark.usefixtures("silent_index")
def test_the_local_backend_stops_pip_at_the_deadline(tmp_path: Path) -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with pytest.raises(SandboxTimeoutError):
        LayerStore(tmp_path / "layers").install(["humanize"], builder=HostBuilder(), timeout_s=2)
    after = {child.pid for child in psutil.Process().children(recursive=True)}
    assert after <= before


def test_an_interrupted_wait_ends_the_installation(cache: Path) -> None:
    program = """
from llm_sandbox.backends.bubblewrap.backend import BubblewrapBackend
from llm_sandbox.packages.store import open_store
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
store, builder = open_store(BubblewrapBackend())
try:
    store.install(["humanize"], builder=builder, progress=lambda words: print(words, flush=True))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/simple"
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PIP_INDEX_URL": url},
        )
        connection, _ = server.accept()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        connection.close()
    assert out.splitlines() == ["resolving humanize", "interrupted"]
    assert leftovers(cache) == []
