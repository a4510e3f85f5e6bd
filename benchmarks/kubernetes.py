"""Races of sessions in pods against ``kubectl``."""

import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from benchmarks import ours
from benchmarks.race import CorrectnessError, Race, Row, Target
from llm_sandbox import SandboxPool, create_session
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError

if TYPE_CHECKING:
    from llm_sandbox.session.session import BaseSession

__all__ = ["races"]

_CODE = "print(1)"
_PRINTED = "1\n"
_REPEATS = 30
_READY_S = 120.0
_PROGRAM = ("python3", "-c", _CODE)


@cache
def _missing() -> str | None:
    """Return why pods cannot be raced; None where they can."""
    if shutil.which("kubectl") is None:
        return "kubectl is not installed"
    try:
        get_backend("kubernetes").check()
    except SandboxError as error:
        return f"kubernetes: {error.message}"
    return None


class _Contest:
    """The lanes."""

    def __init__(self) -> None:
        self._session: BaseSession | None = None
        self._pool: SandboxPool | None = None
        self._idle: str | None = None

    def cold(self) -> Mapping[str, float]:
        return ours.first_result("kubernetes", _CODE, _PRINTED)

    def claimed(self) -> Mapping[str, float]:
        if self._pool is None:
            self._pool = SandboxPool(size=1, backend="kubernetes", lang="python")
        self._pool.wait_until_ready(_READY_S)
        started = time.perf_counter()
        with self._pool.claim() as session:
            ours.checked_run(session, _CODE, _PRINTED)
            return {"first": time.perf_counter() - started}

    def run(self) -> Mapping[str, float]:
        name = f"benchmark-{os.urandom(4).hex()}"
        started = time.perf_counter()
        self._expect(
            *("run", name, "--image", image_name("python"), "--restart=Never", "--rm", "--quiet"),
            *("--attach", "--", *_PROGRAM),
        )
        return {"first": time.perf_counter() - started}

    @staticmethod
    def _expect(*words: str) -> None:
        done = subprocess.run(["kubectl", *words], check=True, capture_output=True, text=True)
        if done.stdout != _PRINTED:
            raise CorrectnessError(f"kubectl {words[0]} printed {done.stdout!r}")

    def live(self) -> Mapping[str, float]:
        if self._session is None:
            self._session = create_session(backend="kubernetes", lang="python")
            self._session.open()
            ours.checked_run(self._session, _CODE, _PRINTED)
        times = []
        for _ in range(_REPEATS):
            started = time.perf_counter()
            ours.checked_run(self._session, _CODE, _PRINTED)
            times.append(time.perf_counter() - started)
        return {"cell": statistics.median(times)}

    def exec(self) -> Mapping[str, float]:
        if self._idle is None:
            self._idle = f"benchmark-{os.urandom(4).hex()}"
            words = ("run", self._idle, "--image", image_name("python"), "--restart=Never", "--")
            for command in ([*words, "sleep", "3600"], ["wait", "--for=condition=Ready"]):
                target = [f"pod/{self._idle}"] if command[0] == "wait" else []
                subprocess.run(["kubectl", *command, *target], check=True, capture_output=True)
        started = time.perf_counter()
        self._expect("exec", self._idle, "--", *_PROGRAM)
        return {"cell": time.perf_counter() - started}

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
        if self._pool is not None:
            self._pool.close()
        if self._idle is not None:
            words = ["kubectl", "delete", "pod", self._idle, "--now", "--wait=false"]
            subprocess.run(words, check=False, capture_output=True)
        self._session = self._pool = self._idle = None


def races() -> list[Race]:
    """Return the races of this theme."""
    contest = _Contest()
    opening = Race(
        name="kubernetes opening",
        lanes={"cold": contest.cold, "claimed": contest.claimed, "kubectl": contest.run},
        rows=(
            Row(
                "first result in a new pod",
                "cold.first",
                "kubectl.first",
                Target("share", 1.2),
                compared_with="kubectl run -- python3 -c",
            ),
            Row(
                "first result in a pod of a pool",
                "claimed.first",
                "kubectl.first",
                compared_with="kubectl run -- python3 -c",
            ),
            Row("close (kubernetes)", "cold.close", None, Target("below", 0.050)),
        ),
        rounds=5,
        quick_rounds=2,
        finish=contest.close,
        missing=_missing,
    )
    cells = Race(
        name="kubernetes cells",
        lanes={"ours": contest.live, "exec": contest.exec},
        rows=(
            Row(
                "`print(1)` in a live session (kubernetes)",
                "ours.cell",
                "exec.cell",
                compared_with="kubectl exec -- python3 -c",
            ),
        ),
        rounds=5,
        quick_rounds=2,
        finish=contest.close,
        missing=_missing,
    )
    return [opening, cells]
