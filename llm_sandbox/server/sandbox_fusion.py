"""API of SandboxFusion: programs and notebooks, each in a sandbox of its own."""

import base64
import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from llm_sandbox.const import RunStatus
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import (
    ConfigurationError,
    FileError,
    SandboxError,
    SandboxTimeoutError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.results.outputs import ErrorOutput, last_displays
from llm_sandbox.server.answers import in_long_thread, read_object
from llm_sandbox.server.api import Api
from llm_sandbox.server.errors import DrainingError, QuotaExceededError
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import Guard
from llm_sandbox.server.live_sandbox import NewSandbox
from llm_sandbox.server.whole_programs import (
    ProgramResult,
    WholeProgram,
    decode_files,
    fetch,
    run_program,
)

__all__ = ["LANGUAGES", "make_api"]

LANGUAGES = {
    "python": "python",
    "pytest": "python",
    "cpp": "cpp",
    "nodejs": "javascript",
    "javascript": "javascript",
    "go": "go",
    "go_test": None,
    "java": "java",
    "junit": None,
    "bash": "bash",
    "typescript": "typescript",
    "R": "r",
    "ruby": "ruby",
}
"""Language of the library for each of theirs; None for those that are refused by name."""

_SLACK_S = 10.0
"""Seconds that clients wait beside both timeouts."""
_MOST_FILES_BYTES = 64 << 20
_OUT_OF_MEMORY = 137
# Plugins of this computer's environment are none of the test's.
_PYTEST = (
    "env",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1",
    "python3",
    "-m",
    "pytest",
    "-p",
    "no:cacheprovider",
)


def make_api(fleet: Fleet, guard: Guard) -> Api:
    """Return the API over a fleet."""
    api = _SandboxFusion(fleet, guard)
    return Api(
        "sandbox_fusion",
        [
            Route("/run_code", api.run_code, methods=["POST"]),
            Route("/run_jupyter", api.run_jupyter, methods=["POST"]),
        ],
        _explain,
    )


def _explain(status: int, message: str, error: SandboxError | None) -> Response:
    # Clients try again after 504 only.
    if isinstance(error, QuotaExceededError | DrainingError):
        status = 504
    elif isinstance(error, ConfigurationError | FileError) and status == 400:
        status = 422
    return JSONResponse({"detail": message}, status)


class _SandboxFusion:
    """Routes of the API."""

    def __init__(self, fleet: Fleet, guard: Guard) -> None:
        self._fleet = fleet
        self._guard = guard

    async def run_code(self, request: Request) -> Response:
        """Run a program."""
        tenant = self._guard.principal(request.scope).tenant
        request.scope["llm_sandbox.tenant"] = tenant
        body = await read_object(request, _MOST_FILES_BYTES)
        program = _program(body, self._fleet.options.longest_program_s)
        patience_s = program.compile_timeout_s + program.run_timeout_s + _SLACK_S
        try:
            outcome = await in_long_thread(
                run_program, self._fleet, tenant, program, patience_s / 2
            )
        except (QuotaExceededError, DrainingError, ConfigurationError, FileError):
            raise
        except SandboxError as error:
            return JSONResponse(
                _answer("SandboxError", None, None, {}) | {"message": error.message}
            )
        steps = [step for step in (outcome.compiled, outcome.ran) if step is not None]
        is_success = all(step.result.exit_code == 0 for step in steps)
        answer = _answer(
            "Success" if is_success else "Failed", outcome.compiled, outcome.ran, outcome.files
        )
        if any(step.ended.oom_killed for step in steps):
            answer["verdict"] = "mle"
        return JSONResponse(answer)

    async def run_jupyter(self, request: Request) -> Response:
        """Run the cells of a notebook, one after another, in one interpreter."""
        tenant = self._guard.principal(request.scope).tenant
        request.scope["llm_sandbox.tenant"] = tenant
        body = await read_object(request, _MOST_FILES_BYTES)
        cells = body.get("cells")
        if not isinstance(cells, list) or not all(isinstance(cell, str) for cell in cells):
            raise ValidationError("invalid cells: expected a list of texts", parameter="cells")
        if body.get("kernel", "python3") not in ("python3", "python"):
            raise UnsupportedError(f"the kernel {body['kernel']!r}", reason="python3 is there")
        files = decode_files(body.get("files") or {})
        wanted = _paths(body)
        longest_s = self._fleet.options.longest_program_s
        cell_s = _seconds(body, "cell_timeout", 0.0, longest_s) or None
        total_s = _seconds(body, "total_timeout", 45.0, longest_s)
        memory = _memory(body)
        answer = await in_long_thread(
            self._notebook, tenant, cells, files, wanted, cell_s, total_s, memory
        )
        return JSONResponse(answer)

    def _notebook(
        self,
        tenant: str,
        cells: list[str],
        files: Mapping[str, bytes],
        wanted: list[str],
        cell_s: float | None,
        total_s: float,
        memory: int | None,
    ) -> dict[str, Any]:
        asked = NewSandbox("sandbox_fusion", timeout_s=None, memory_bytes=memory)
        live = self._fleet.create(tenant, asked)
        try:
            with self._fleet.run():
                for path, data in files.items():
                    live.sandbox.files.write_bytes(path, data)
                started = time.monotonic()
                limit = started + total_s
                results: list[ExecutionResult] = []
                session = live.default_context(None).session
                for cell in cells:
                    left = max(0.001, limit - time.monotonic())
                    try:
                        result = session.run(cell, timeout=min(left, cell_s or left))
                    except SandboxTimeoutError as error:
                        if not isinstance(error.result, ExecutionResult):
                            raise
                        result = error.result
                    results.append(result)
                    if result.status is not RunStatus.OK:
                        break
                took = time.monotonic() - started
                return _notebook_answer(results, took, fetch(live.sandbox, wanted))
        finally:
            self._fleet.kill(live)


def _program(body: Mapping[str, Any], longest_s: float) -> WholeProgram:
    code, name, stdin = body.get("code"), body.get("language"), body.get("stdin")
    if not isinstance(code, str):
        raise ValidationError("invalid code: expected text", parameter="code")
    if not isinstance(stdin, str | None):
        raise ValidationError("invalid stdin: expected text", parameter="stdin")
    language = LANGUAGES.get(str(name))
    if language is None:
        known = ", ".join(sorted(key for key, value in LANGUAGES.items() if value))
        raise UnsupportedError(f"the language {str(name)[:80]!r}", hint=f"there are {known}")
    is_test = name == "pytest"
    return WholeProgram(
        language,
        code,
        stdin or "",
        command=_PYTEST if is_test else (),
        name="test_main.py" if is_test else None,
        files=decode_files(body.get("files") or {}),
        fetch=_paths(body),
        compile_timeout_s=_seconds(body, "compile_timeout", 10.0, longest_s),
        run_timeout_s=_seconds(body, "run_timeout", 10.0, longest_s),
        memory_bytes=_memory(body),
    )


def _paths(body: Mapping[str, Any]) -> list[str]:
    paths = body.get("fetch_files") or []
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise ValidationError("invalid fetch_files: expected paths", parameter="fetch_files")
    return paths


def _seconds(body: Mapping[str, Any], name: str, otherwise: float, longest_s: float) -> float:
    value = body.get(name)
    if value is None:
        return min(otherwise, longest_s)
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not 0 <= value <= longest_s
    ):
        raise ValidationError(
            f"invalid {name}: expected seconds, at most {longest_s:g}, got {str(value)[:40]!r}",
            parameter=name,
        )
    return float(value) or min(otherwise, longest_s)


def _memory(body: Mapping[str, Any]) -> int | None:
    value = body.get("memory_limit_MB", -1)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValidationError("invalid memory_limit_MB: expected MiB, or -1 for none")
    return value << 20 if value > 0 else None


def _answer(
    status: str,
    compiled: ProgramResult | None,
    ran: ProgramResult | None,
    files: Mapping[str, bytes],
) -> dict[str, Any]:
    return {
        "status": status,
        "message": "",
        "compile_result": None if compiled is None else _step(compiled),
        "run_result": None if ran is None else _step(ran),
        "executor_pod_name": None,
        "files": _encoded(files),
    }


def _step(step: ProgramResult) -> dict[str, object]:
    result, ended = step.result, step.ended
    code: int | None = result.exit_code
    status = "Finished"
    if ended.timed_out:
        status, code = "TimeLimitExceeded", None
    elif ended.oom_killed:
        code = _OUT_OF_MEMORY
    elif ended.signal is not None:
        code = -ended.signal  # as Python's subprocess says it
    return {
        "status": status,
        "execution_time": result.duration_s,
        "return_code": code,
        "stdout": result.stdout,
        "stderr": result.stderr,
    }


def _notebook_answer(
    results: list[ExecutionResult], took: float, files: Mapping[str, bytes]
) -> dict[str, Any]:
    is_late = any(result.timed_out for result in results)
    is_success = all(result.status is RunStatus.OK for result in results)
    driver = {
        "status": "TimeLimitExceeded" if is_late else "Finished",
        "execution_time": took,
        "return_code": None if is_late else 0,
        "stdout": "",
        "stderr": "",
    }
    return {
        "status": "Success" if is_success else "Failed",
        "message": "",
        "driver": driver,
        "cells": [_cell(result) for result in results],
        "files": _encoded(files),
    }


def _cell(result: ExecutionResult) -> dict[str, object]:
    errors = [output for output in result.outputs if isinstance(output, ErrorOutput)]
    return {
        "stdout": result.stdout,
        "stderr": "" if errors else result.stderr,
        "display": [dict(shown.data) for shown in last_displays(result.outputs).values()],
        "error": [
            {"ename": one.name, "evalue": one.value, "traceback": list(one.traceback)}
            for one in errors
        ],
    }


def _encoded(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: base64.b64encode(data).decode() for path, data in files.items()}
