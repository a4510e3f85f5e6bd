"""Sessions of the embedded default, with and without kernels kept ready."""

import compileall
import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llm_sandbox
from benchmarks.race import CorrectnessError
from llm_sandbox import ExecutionResult, create_session
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.session.prefork import shared_pool
from llm_sandbox.session.session import BaseSession
from llm_sandbox.settings import get_settings

__all__ = [
    "BACKEND",
    "PREFORK",
    "checked_run",
    "compile_package",
    "end_everything",
    "first_result",
    "new_session",
    "prefork",
    "settle",
    "warm",
    "without_pool",
]

BACKEND = "bubblewrap"
PREFORK = 2
_WAIT_S = 60.0
_QUIET_S = 0.05
_NUDGE_S = 2.0


def new_session(**options: Any) -> BaseSession:
    """Return a session, not yet open."""
    return create_session(backend=BACKEND, lang="python", **options)


def checked_run(session: BaseSession, code: str, expected: str | None = None) -> ExecutionResult:
    """Run code, and raise `CorrectnessError` unless it went well and printed `expected`."""
    result = session.run(code)
    if result.exit_code != 0:
        raise CorrectnessError(f"{code!r} ended with {result.exit_code}: {result.stderr[-500:]}")
    if expected is not None and result.stdout != expected:
        raise CorrectnessError(f"{code!r} printed {result.stdout[:80]!r}, not {expected[:80]!r}")
    return result


def first_result(backend: str, code: str, expected: str) -> dict[str, float]:
    """Return the seconds from a new session on a backend to its first result, and to close it."""
    started = time.perf_counter()
    session = create_session(backend=backend, lang="python")
    try:
        session.open()
        checked_run(session, code, expected)
        first = time.perf_counter()
    finally:
        closing = time.perf_counter()
        session.close()
        closed = time.perf_counter()
    return {"first": first - started, "close": closed - closing}


def prefork(count: int) -> None:
    """Set the number of kernels that are kept forked ahead from now on."""
    os.environ["LLM_SANDBOX_PREFORK"] = str(count)
    get_settings.cache_clear()


def compile_package() -> None:
    """Compile the library: pip does so for an install, and does not for an editable one."""
    compileall.compile_dir(str(Path(llm_sandbox.__file__).parent), quiet=2)


def warm() -> None:
    """Load the science stack and fill the pool."""
    if not get_backend(BACKEND).wait_until_warm(timeout_s=_WAIT_S):
        raise CorrectnessError("the zygote did not load")
    prefork(PREFORK)
    settle()


def settle() -> None:
    """Wait until the pool is full again, so that its work is not timed as someone else's."""
    limit = time.monotonic() + _WAIT_S
    while shared_pool().ready_count() < get_settings().prefork:
        if time.monotonic() > limit:
            raise CorrectnessError("the pool did not fill")
        # Only a claim has it filled, and `without_pool` has it forget what it was for.
        with new_session():
            nudged = time.monotonic()
        while (
            shared_pool().ready_count() < get_settings().prefork
            and time.monotonic() < nudged + _NUDGE_S
        ):
            time.sleep(0.005)
    time.sleep(_QUIET_S)


@contextlib.contextmanager
def without_pool() -> Iterator[None]:
    """Keep no kernels ready while the body runs, nor left over."""
    prefork(0)
    shared_pool().clear()
    try:
        yield
    finally:
        prefork(PREFORK)


def end_everything() -> None:
    """End every sandbox of this process."""
    prefork(0)
    shared_pool().clear()
    close = getattr(get_backend(BACKEND), "close", None)
    if close is not None:
        close()
