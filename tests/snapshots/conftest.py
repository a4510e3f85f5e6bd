"""A store of the test's own, and what is made in it."""

from __future__ import annotations

import io
import os
import tarfile
import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Snapshot
from llm_sandbox.backends.file_snapshots import FileSnapshots
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError
from tests.containers.conftest import container

__all__ = ["archive", "container", "deleted", "engine", "folder", "home", "saved", "store"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from llm_sandbox.backends.containers.engine import Engine


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where this user keeps things, for the tests of a module: data and state."""
    folder = tmp_path_factory.mktemp("home")
    wanted = {"XDG_DATA_HOME": str(folder / "data"), "XDG_STATE_HOME": str(folder / "state")}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ |= wanted
    try:
        yield folder
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@pytest.fixture
def store(home: Path) -> Iterator[FileSnapshots]:
    """The user's store; what a test leaves in it is deleted."""
    with FileSnapshots() as found:
        yield found
        for one in found.list():
            found.delete(one.snapshot.ref)
        found.sweep()
        assert {"store.id"} >= set(os.listdir(found.path))  # noqa: PTH208


@pytest.fixture(params=["docker", "podman"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each container engine."""
    backend = get_backend(request.param)
    try:
        backend.check()
    except SandboxError as error:
        pytest.skip(f"{request.param}: {error}")
    found: Engine = backend.engine  # type: ignore[attr-defined]
    return found


@pytest.fixture
def deleted() -> Iterator[Callable[[Snapshot], Snapshot]]:
    """Deletes snapshots after the test."""
    made: list[Snapshot] = []

    def note(snapshot: Snapshot) -> Snapshot:
        made.append(snapshot)
        return snapshot

    yield note
    for one in made:
        one.delete()


def archive(*members: tuple[str, dict[str, object], bytes]) -> bytes:
    """An archive with these members: name, what else is said of each, and its content."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as target:
        for name, facts, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            for field, value in facts.items():
                setattr(member, field, value)
            target.addfile(member, io.BytesIO(content))
    return data.getvalue()


def folder(name: str = "top") -> tuple[str, dict[str, object], bytes]:
    return name, {"type": tarfile.DIRTYPE, "mode": 0o755}, b""


def saved(store: FileSnapshots, data: bytes, *, expires_at: float | None = None) -> Snapshot:
    """A directory snapshot of this archive."""
    with store.begin() as saving:
        saving.add("workdir", data)
        return saving.finish(
            Snapshot(
                *("local", "", "", ""),
                kind="directory",
                created_at=time.time(),
                expires_at=expires_at,
            )
        )
