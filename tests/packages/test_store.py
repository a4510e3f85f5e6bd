"""The store of layers, with builders that write files instead of asking a package index."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import (
    LibraryInstallationError,
    SandboxTimeoutError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.packages.builders import builder_for
from llm_sandbox.packages.store import LayerStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from llm_sandbox.backends.base import Isolation, Machine, MachineSpec
    from llm_sandbox.backends.machine_spec import Network
    from llm_sandbox.limits import Deadline


class Writer:
    """A builder that calls a function with the folder to fill."""

    def __init__(self, write: Callable[[Path], object] | None = None) -> None:
        self.asked: list[list[str]] = []
        self._write = write or write_demo

    def build(
        self,
        staging: Path,
        specs: Sequence[str],
        deadline: Deadline,
        progress: Callable[[str], None],
    ) -> None:
        self.asked.append(list(specs))
        progress("writing")
        self._write(staging)


def write_demo(staging: Path) -> None:
    site = staging / "site"
    (site / "demo" / "__pycache__").mkdir(parents=True)
    (site / "demo" / "__init__.py").write_text("x = 1\n")
    (site / "demo" / "__pycache__" / "__init__.cpython-399.pyc").write_bytes(os.urandom(8))
    (site / "Demo_Thing-1.0.dist-info").mkdir()
    (site / "Demo_Thing-1.0.dist-info" / "METADATA").write_text("Name: Demo.Thing\n")


def contents(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "layers"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "layers-index"


def test_a_layer_is_found_after_it_was_installed(root: Path) -> None:
    store, builder = LayerStore(root), Writer()
    assert store.find(["demo"]) is None
    words: list[str] = []
    layer = store.install(["demo"], builder=builder, progress=words.append)
    assert words == ["writing"]
    assert layer.path == root / layer.digest
    assert layer.guest_path == f"/opt/layers/{layer.digest}"
    assert layer.distributions == {"demo-thing": "1.0"}
    assert layer.shadows == ()
    assert (layer.path / "demo" / "__init__.py").read_text() == "x = 1\n"
    assert LayerStore(root).find(["demo"]) == layer
    assert store.install(["demo"], builder=builder) == layer
    assert builder.asked == [["demo"]]


def test_spellings_of_one_request_share_an_answer(root: Path) -> None:
    store, builder = LayerStore(root), Writer()
    layer = store.install(["Demo.Thing[B,a_A] >=1, <2", "other"], builder=builder)
    assert builder.asked == [["demo-thing[a-a,b]<2,>=1", "other"]]
    assert store.find(["other", "demo_thing[a-a,b]<2,>=1", "other"]) == layer
    assert store.find(["demo-thing[a-a]<2,>=1", "other"]) is None


def test_the_same_content_is_kept_once(root: Path) -> None:
    store, builder = LayerStore(root), Writer()
    first = store.install(["demo"], builder=builder)
    second = store.install(["demo>=0"], builder=builder)
    assert first.digest == second.digest
    assert len(builder.asked) == 2
    assert contents(root) == [first.digest]


@pytest.mark.parametrize(
    "change",
    [
        lambda site: (site / "demo" / "__init__.py").write_text("x = 2\n"),
        lambda site: (site / "demo" / "__init__.py").chmod(0o755),
        lambda site: (site / "demo" / "__init__.py").rename(site / "demo" / "other.py"),
        lambda site: (site / "more.py").touch(),
    ],
)
def test_other_content_has_another_digest(root: Path, change: Callable[[Path], object]) -> None:
    def write(staging: Path) -> None:
        write_demo(staging)
        change(staging / "site")

    store = LayerStore(root)
    plain = store.install(["demo"], builder=Writer())
    assert store.install(["demo>=0"], builder=Writer(write)).digest != plain.digest


def test_an_answer_belongs_to_the_environment_it_was_found_in(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    (site / "numpy-2.0.dist-info").mkdir(parents=True)
    monkeypatch.setattr("site.getsitepackages", lambda: [str(site)])
    store = LayerStore(root)
    layer = store.install(["demo"], builder=Writer())
    assert store.find(["demo"]) == layer
    (site / "numpy-2.0.dist-info").rename(site / "numpy-2.1.dist-info")
    assert store.find(["demo"]) is None
    (site / "demo.thing-0.9.dist-info").mkdir()
    assert store.install(["demo"], builder=Writer()).shadows == ("demo-thing",)


def test_nothing_needed_is_an_empty_layer(root: Path) -> None:
    store = LayerStore(root)
    layer = store.install(["demo"], builder=Writer(lambda staging: None))
    assert layer.distributions == {}
    assert contents(layer.path) == []
    assert store.find(["demo"]) == layer


@pytest.mark.parametrize(
    "spec",
    [
        "--index-url=http://evil",
        "-r /etc/passwd",
        "./local",
        "/abs",
        "https://x/y.whl",
        "git+https://x/y",
        "demo @ https://x/y.whl",
        "demo; os_name=='posix'",
        "demo\n--pre",
        "",
        "a" * 300,
        7,
        None,
    ],
)
def test_what_is_no_plain_requirement_starts_nothing(root: Path, spec: object) -> None:
    store, builder = LayerStore(root), Writer()
    with pytest.raises(ValidationError):
        store.find([spec])  # type: ignore[list-item]
    with pytest.raises(ValidationError):
        store.install(["demo", spec], builder=builder)  # type: ignore[list-item]
    assert builder.asked == []
    assert not root.exists()


def test_an_empty_request_is_refused(root: Path) -> None:
    with pytest.raises(ValidationError, match="nothing to install"):
        LayerStore(root).install([], builder=Writer())
    with pytest.raises(ValidationError, match="a list of names"):
        LayerStore(root).install("numpy", builder=Writer())


def link_to_file(site: Path) -> None:
    (site / "secret").symlink_to("/etc/passwd")


def link_to_folder(site: Path) -> None:
    (site / "secret").symlink_to("/etc")


def link_inside(site: Path) -> None:
    (site / "again").symlink_to("demo")


def fifo(site: Path) -> None:
    os.mkfifo(site / "pipe")


def replace_site(site: Path) -> None:
    site.rename(site.with_name("elsewhere"))
    site.symlink_to("/etc")


@pytest.mark.parametrize("spoil", [link_to_file, link_to_folder, link_inside, fifo, replace_site])
def test_what_is_no_file_is_refused(root: Path, index: Path, spoil: Callable[[Path], None]) -> None:
    def write(staging: Path) -> None:
        write_demo(staging)
        spoil(staging / "site")

    before = Path("/etc/passwd").stat()
    with pytest.raises(LibraryInstallationError, match="neither a file nor a folder"):
        LayerStore(root).install(["demo"], builder=Writer(write))
    assert contents(root) == contents(index / "staging") == contents(index / "requests") == []
    assert Path("/etc/passwd").stat() == before


def test_modes_and_owners_are_set(root: Path) -> None:
    def write(staging: Path) -> None:
        write_demo(staging)
        program = staging / "site" / "tool"
        program.touch()
        (staging / "site" / "demo" / "__init__.py").chmod(0o600)
        (staging / "site" / "demo").chmod(0o700)
        if os.geteuid() == 0:
            os.chown(program, 12345, 12345)
        program.chmod(0o6777)

    before = os.umask(0o077)
    try:
        layer = LayerStore(root).install(["demo"], builder=Writer(write))
    finally:
        os.umask(before)
    assert stat.S_IMODE(root.stat().st_mode) == 0o755
    modes = {}
    for entry in [layer.path, *layer.path.rglob("*")]:
        status = entry.lstat()
        assert status.st_uid == os.geteuid()
        modes[entry.name] = stat.S_IMODE(status.st_mode)
    assert modes["tool"] == modes["demo"] == modes[layer.digest] == 0o755
    assert modes["__init__.py"] == modes["METADATA"] == 0o644


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"digest": 1, "distributions": {}, "shadows": []}',
        b'{"digest": "../../etc", "distributions": {}, "shadows": []}',
        b'{"digest": "%s", "distributions": {}, "shadows": []}' % (b"0" * 64),
        b"[" * 100_000,
    ],
)
def test_a_damaged_record_is_replaced(root: Path, index: Path, damage: bytes) -> None:
    store, builder = LayerStore(root), Writer()
    layer = store.install(["demo"], builder=builder)
    (record,) = (index / "requests").iterdir()
    whole = json.loads(record.read_bytes())
    record.write_bytes(damage)
    assert store.find(["demo"]) is None
    assert store.install(["demo"], builder=builder) == layer
    assert json.loads(record.read_bytes()) == whole


def test_a_failed_installation_leaves_nothing(root: Path, index: Path) -> None:
    def fail(staging: Path) -> None:
        write_demo(staging)
        raise LibraryInstallationError("no such thing")

    store = LayerStore(root)
    with pytest.raises(LibraryInstallationError, match="no such thing"):
        store.install(["demo"], builder=Writer(fail))
    assert contents(root) == contents(index / "staging") == contents(index / "requests") == []
    assert store.find(["demo"]) is None


def test_what_a_killed_installation_left_is_removed(root: Path, index: Path) -> None:
    store = LayerStore(root)
    store.install(["first"], builder=Writer())
    store.install(["second"], builder=Writer())
    for key in contents(index / "locks"):
        (index / "staging" / f"{key}-0000" / "site").mkdir(parents=True)

    def look(staging: Path) -> None:
        assert contents(index / "staging") == [staging.name]

    store.install(["third"], builder=Writer(look))
    assert contents(index / "staging") == []


def test_threads_install_one_request_once(root: Path, index: Path) -> None:
    def slowly(staging: Path) -> None:
        time.sleep(0.2)
        write_demo(staging)

    builder, found = Writer(slowly), []
    words: list[str] = []

    def install() -> None:
        found.append(LayerStore(root).install(["demo"], builder=builder, progress=words.append))

    threads = [threading.Thread(target=install) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builder.asked) == 1
    assert len(found) == 6
    assert len({layer.digest for layer in found}) == 1
    assert words.count("waiting for another installation of the same libraries") == 5


def test_different_requests_do_not_wait_for_each_other(root: Path) -> None:
    meeting = threading.Barrier(2, timeout=10)

    def write(staging: Path) -> None:
        meeting.wait()
        write_demo(staging)

    builder = Writer(write)
    threads = [
        threading.Thread(
            target=LayerStore(root).install, args=([name],), kwargs={"builder": builder}
        )
        for name in ("one", "two")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not meeting.broken
    assert len(contents(root)) == 1


def test_waiting_for_another_installation_is_bounded(root: Path) -> None:
    begun, done = threading.Event(), threading.Event()

    def write(staging: Path) -> None:
        begun.set()
        done.wait(20)

    thread = threading.Thread(
        target=LayerStore(root).install, args=(["demo"],), kwargs={"builder": Writer(write)}
    )
    thread.start()
    try:
        assert begun.wait(10)
        with pytest.raises(SandboxTimeoutError, match="still installing"):
            LayerStore(root).install(["demo"], builder=Writer(), timeout_s=0.2)
    finally:
        done.set()
        thread.join()


class WithoutLayers(Backend):
    """A backend that has what the contract requires, and no layers."""

    name = "elsewhere"

    def check(self) -> Isolation:
        return get_backend("local").check()

    def create(self, spec: MachineSpec) -> Machine:
        raise NotImplementedError

    def warm_up(self, network: Network = "blocked") -> None: ...

    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        return True

    def close(self) -> None: ...


def test_a_backend_without_layers_is_refused(tmp_path: Path) -> None:
    builder = builder_for(WithoutLayers())
    with pytest.raises(UnsupportedError, match="layers"):
        LayerStore(tmp_path).install(["demo"], builder=builder, timeout_s=10)
