"""Races of sessions in containers against the minimum of their engine."""

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from benchmarks import ours, processes
from benchmarks.race import CorrectnessError, Race, Row, Target
from llm_sandbox import Limits, create_session
from llm_sandbox.backends.containers.backend import ContainerBackend
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.session.prefork import shared_pool
from llm_sandbox.session.session import BaseSession

__all__ = ["missing_engine", "races"]

_CODE = "print(1)"
_PRINTED = "1\n"
_MANY = 20
_REPEATS = 30
_FLOOD = 50_000_000
_LIMIT = 8 << 20
_WAIT_S = 60.0


@cache
def missing_engine(engine: str) -> str | None:
    """Return why an engine cannot be raced against; None where it can."""
    name = image_name("python")
    try:
        backend = get_backend(engine)
        backend.check()
        if isinstance(backend, ContainerBackend) and backend.engine.find_image(name) is None:
            return f"{engine} has no image {name}: llm-sandbox images build python"
    except SandboxError as error:
        return f"{engine}: {error.message}"
    return None


class _Contest:
    """The lanes of one engine.

    Args:
        engine: Name of the engine, its backend and its program.
    """

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self._sessions: dict[str, BaseSession] = {}
        self._idle: str | None = None
        # Podman's own limits may be beyond what this process may give.
        limits = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096")
        self._least = (
            "--network=none",
            *(limits if engine == "podman" else ()),
            image_name("python"),
        )

    # --- one container

    def cold(self) -> Mapping[str, float]:
        with ours.without_pool():
            return self._session()

    def claimed(self) -> Mapping[str, float]:
        shared_pool().clear()
        ours.prefork(1)
        try:
            self._session()  # a claim has the pool filled
            limit = time.monotonic() + _WAIT_S
            while not shared_pool().ready_count():
                if time.monotonic() > limit:
                    raise CorrectnessError("the pool did not fill")
                time.sleep(0.01)
            time.sleep(0.5)  # what was closed is removed meanwhile
            return self._session()
        finally:
            ours.prefork(0)
            shared_pool().clear()
            ours.prefork(ours.PREFORK)

    def _session(self) -> Mapping[str, float]:
        return ours.first_result(self.engine, _CODE, _PRINTED)

    def run(self) -> Mapping[str, float]:
        started = time.perf_counter()
        self._run_once()
        return {"run": time.perf_counter() - started}

    def _run_once(self) -> None:
        self._expect(["run", "--rm", *self._least, "python3", "-c", _CODE])

    def _expect(self, words: list[str]) -> None:
        printed = subprocess.run(
            [self.engine, *words], check=True, capture_output=True, text=True
        ).stdout
        if printed != _PRINTED:
            raise CorrectnessError(f"{self.engine} {words[0]} printed {printed!r}")

    # --- many containers

    def many(self) -> Mapping[str, float]:
        with ours.without_pool():
            return self._together(self._session)

    def many_runs(self) -> Mapping[str, float]:
        return self._together(self._run_once)

    @staticmethod
    def _together(work: Callable[[], object]) -> Mapping[str, float]:
        with ThreadPoolExecutor(_MANY) as workers:
            started = time.perf_counter()
            for done in [workers.submit(work) for _ in range(_MANY)]:
                done.result()
            return {"all": time.perf_counter() - started}

    # --- in a container that is there

    def live(self) -> Mapping[str, float]:
        return self._cells(self._open(self.engine))

    def live_bubblewrap(self) -> Mapping[str, float]:
        return self._cells(self._open(ours.BACKEND))

    def _open(self, backend: str, **options: object) -> BaseSession:
        key = f"{backend} {options}"
        if key not in self._sessions:
            with ours.without_pool():
                session = create_session(backend=backend, lang="python", **options)
                session.open()
            self._sessions[key] = session
            ours.checked_run(session, _CODE, _PRINTED)
        return self._sessions[key]

    @staticmethod
    def _cells(session: BaseSession) -> Mapping[str, float]:
        times = []
        for _ in range(_REPEATS):
            started = time.perf_counter()
            ours.checked_run(session, _CODE, _PRINTED)
            times.append(time.perf_counter() - started)
        return {"cell": statistics.median(times)}

    def exec(self) -> Mapping[str, float]:
        if self._idle is None:
            made = subprocess.run(
                [self.engine, "run", "--detach", "--rm", *self._least, "sleep", "infinity"],
                check=True,
                capture_output=True,
                text=True,
            )
            self._idle = made.stdout.strip()
        started = time.perf_counter()
        self._expect(["exec", self._idle, "python3", "-c", _CODE])
        return {"cell": time.perf_counter() - started}

    def flood(self) -> Mapping[str, float]:
        session = self._open(self.engine, limits=Limits(output_bytes=_LIMIT))
        before = processes.reset_peak()
        started = time.perf_counter()
        printed = session.run(f"import sys; sys.stdout.write('x' * {_FLOOD}); None").stdout
        elapsed = time.perf_counter() - started
        growth = processes.peak_growth_since(before)
        if len(printed) != _LIMIT:
            raise CorrectnessError(f"{len(printed)} characters came of {_LIMIT}")
        return {"flood": elapsed, "growth": growth / 1e6}

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        if self._idle is not None:
            words = [self.engine, "rm", "--force", self._idle]
            subprocess.run(words, check=False, capture_output=True)
            self._idle = None


def races() -> list[Race]:
    """Return the races of this theme."""
    return [race for engine in ("docker", "podman") for race in _races(_Contest(engine))]


def _races(contest: _Contest) -> list[Race]:
    engine = contest.engine
    run = f"{engine} run python3 -c"

    def missing() -> str | None:
        return missing_engine(engine)

    opening = Race(
        name=f"{engine} opening",
        lanes={"cold": contest.cold, "claimed": contest.claimed, "engine": contest.run},
        rows=(
            Row(
                f"first result in a new container ({engine})",
                "cold.first",
                "engine.run",
                Target("share", 1.5),
                compared_with=run,
            ),
            Row(
                f"first result in a container made ahead ({engine})",
                "claimed.first",
                "engine.run",
                Target("times", 60),
                compared_with=run,
            ),
            Row(f"close ({engine})", "cold.close", None, Target("below", 0.050)),
        ),
        rounds=7,
        quick_rounds=2,
        missing=missing,
    )
    cells = Race(
        name=f"{engine} cells",
        lanes={
            "ours": contest.live,
            "exec": contest.exec,
            "bubblewrap": contest.live_bubblewrap,
            "flood": contest.flood,
        },
        rows=(
            Row(
                f"`print(1)` in a live session ({engine})",
                "ours.cell",
                "exec.cell",
                Target("times", 20),
                compared_with=f"{engine} exec python3 -c",
            ),
            Row(
                f"`print(1)` in a live session ({engine})",
                "ours.cell",
                "bubblewrap.cell",
                Target("share", 2),
                compared_with="the same with bubblewrap",
            ),
            Row(f"50 MB in one write, limited to 8 MiB ({engine})", "flood.flood", None),
            Row(
                f"growth of the host process by that ({engine})",
                "flood.growth",
                None,
                Target("below", 4 * _LIMIT / 1e6),
                unit="MB",
            ),
        ),
        rounds=7,
        quick_rounds=3,
        finish=contest.close,
        missing=missing,
    )
    many = Race(
        name=f"{engine} together",
        lanes={"ours": contest.many, "engine": contest.many_runs},
        rows=(
            Row(
                f"{_MANY} sessions opened, used and closed in threads ({engine})",
                "ours.all",
                "engine.all",
                Target("share", 2),
                compared_with=f"{_MANY} {run} in threads",
            ),
        ),
        rounds=3,
        quick_rounds=1,
        warm_up=False,
        missing=missing,
    )
    return [opening, cells, many]
