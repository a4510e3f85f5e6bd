"""Races of saving a sandbox and starting from it, beside a container engine's own
commit and run.
"""

import contextlib
import subprocess
import time
from collections.abc import Mapping

from benchmarks.containers import missing_engine
from benchmarks.race import CorrectnessError, Race, Row
from llm_sandbox import Sandbox, Snapshot, __version__
from llm_sandbox.exceptions import BackendError, SandboxError

__all__ = ["races"]

_SIZE = 16 << 20
_MAKE = f"head -c {_SIZE} /dev/urandom > data"
_IMAGE = f"llm-sandbox/python:{__version__}"
_COMMITTED = "llm-sandbox-test/committed-by-engine:1"
_CLEANED_S = 20.0


class _Contest:
    """Sandboxes with 16 MiB of files, a container with the same, and their snapshots."""

    def __init__(self) -> None:
        self._ends = contextlib.ExitStack()
        self._sources: dict[str, Sandbox] = {}
        self._container = ""

    def _source(self, backend: str, *, writable_root: bool = False) -> Sandbox:
        key = f"{backend} {writable_root}"
        if key not in self._sources:
            made = Sandbox.create(backend=backend, writable_root=writable_root)
            self._ends.callback(made.destroy)
            made.check("sh", "-c", _MAKE)
            if writable_root:
                made.check("sh", "-c", "cp data /var/data && rm data")
            self._sources[key] = made
        return self._sources[key]

    def docker(self) -> Mapping[str, float]:
        return self._saved(self._source("docker"), "data")

    def directory(self) -> Mapping[str, float]:
        return self._saved(self._source("bubblewrap"), "data", kind="directory")

    def root(self) -> Mapping[str, float]:
        return self._saved(self._source("bubblewrap", writable_root=True), "/var/data")

    def _saved(self, source: Sandbox, path: str, kind: str = "filesystem") -> Mapping[str, float]:
        started = time.perf_counter()
        snapshot = source.snapshot(kind=kind)  # type: ignore[arg-type]
        took = time.perf_counter() - started
        started = time.perf_counter()
        try:
            with Sandbox.create(backend=source.backend, image=snapshot) as again:
                size = again.check("stat", "-c", "%s", path).stdout
                restored = time.perf_counter() - started
        finally:
            _delete(snapshot)
        if size != f"{_SIZE}\n":
            raise CorrectnessError(f"a restored file has {size} bytes")
        return {"save": took, "restore": restored}

    def engine(self) -> Mapping[str, float]:
        """Measure the engine's own way: a container whose files are in its writable layer."""
        if not self._container:
            run = ["run", "--detach", "--network=none", "--user=0", "--workdir=/", _IMAGE]
            self._container = _docker(*run, "sleep", "infinity")
            self._ends.callback(_docker, "rm", "--force", self._container)
            _docker("exec", self._container, "sh", "-c", _MAKE)
        started = time.perf_counter()
        _docker("commit", self._container, _COMMITTED)
        took = time.perf_counter() - started
        started = time.perf_counter()
        try:
            run = ["run", "--rm", "--network=none", _COMMITTED, "stat", "-c", "%s", "/data"]
            size = _docker(*run)
            restored = time.perf_counter() - started
        finally:
            _docker("rmi", _COMMITTED)
        if size != str(_SIZE):
            raise CorrectnessError(f"a committed file has {size} bytes")
        return {"save": took, "restore": restored}

    def closed(self) -> Mapping[str, float]:
        return self._start(writable_root=False)

    def writable(self) -> Mapping[str, float]:
        return self._start(writable_root=True)

    @staticmethod
    def _start(*, writable_root: bool) -> Mapping[str, float]:
        started = time.perf_counter()
        with Sandbox.create(backend="bubblewrap", writable_root=writable_root) as sandbox:
            sandbox.check("true")
            return {"first": time.perf_counter() - started}

    def close(self) -> None:
        self._ends.close()
        self._sources.clear()
        self._container = ""


def _docker(*words: str) -> str:
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _delete(snapshot: Snapshot) -> None:
    """Delete an image, once the container that was made of it is gone."""
    deadline = time.monotonic() + _CLEANED_S
    while True:
        try:
            snapshot.delete()
        except BackendError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


def _no_writable_root() -> str | None:
    try:
        Sandbox.create(backend="bubblewrap", writable_root=True).destroy()
    except SandboxError as error:
        return error.message
    return None


def races() -> list[Race]:
    """Return the races of this theme."""
    contest = _Contest()
    saving = {
        "docker": ("save a sandbox (docker)", "begin from that (docker)"),
        "directory": ("save a directory (bubblewrap)", "begin from that directory (bubblewrap)"),
        "root": ("save a changed root (bubblewrap)", "begin from that root (bubblewrap)"),
    }
    rows = []
    for lane, (save, restore) in saving.items():
        rows += [
            Row(f"{save}, 16 MiB", f"{lane}.save", "engine.save", compared_with="docker commit"),
            Row(
                f"{restore}, to a first program's end",
                f"{lane}.restore",
                "engine.restore",
                compared_with="docker run of what was committed",
            ),
        ]
    return [
        Race(
            name="snapshots",
            lanes={
                "docker": contest.docker,
                "directory": contest.directory,
                "root": contest.root,
                "engine": contest.engine,
            },
            rows=tuple(rows),
            rounds=10,
            quick_rounds=3,
            finish=contest.close,
            missing=lambda: missing_engine("docker") or _no_writable_root(),
        ),
        Race(
            name="writable-root",
            lanes={"closed": contest.closed, "writable": contest.writable},
            rows=(
                Row(
                    "a sandbox with a writable root, bubblewrap: to a first program's end",
                    "writable.first",
                    "closed.first",
                    compared_with="the same with a closed root",
                ),
            ),
            rounds=40,
            quick_rounds=10,
            missing=_no_writable_root,
        ),
    ]
