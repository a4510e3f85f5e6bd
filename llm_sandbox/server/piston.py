"""API of Piston, version 2: programs in many languages, each in a sandbox of its own."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import SandboxError, UnsupportedError, ValidationError
from llm_sandbox.host.guest_numbers import signal_name
from llm_sandbox.language_handlers import registry
from llm_sandbox.server.answers import in_long_thread, read_object
from llm_sandbox.server.api import Api
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import Guard
from llm_sandbox.server.whole_programs import (
    ProgramResult,
    WholeProgram,
    check_path,
    run_program,
)

__all__ = ["ALIASES", "make_api"]

ALIASES = {
    "bash": ["sh"],
    "cpp": ["c++", "g++", "cpp17"],
    "go": ["golang"],
    "javascript": ["js", "node", "node-js"],
    "python": ["py", "py3", "python3"],
    "r": ["rscript"],
    "ruby": ["rb"],
    "typescript": ["ts"],
}
"""Other names of languages."""

_SLACK_S = 20.0
_MOST_ARGUMENTS = 1000
_REFUSED = ("run_cpu_time", "compile_cpu_time", "compile_memory_limit")
"""Limits that are refused unless they are absent or -1: a step has the time and the memory of all
of it."""


def make_api(fleet: Fleet, guard: Guard) -> Api:
    """Return the API over a fleet."""
    api = _Piston(fleet, guard)
    return Api(
        "piston",
        [
            Route("/api/v2/runtimes", api.runtimes, methods=["GET"]),
            Route("/api/v2/execute", api.execute, methods=["POST"]),
        ],
        _explain,
    )


def _explain(status: int, message: str, error: SandboxError | None) -> Response:
    del error
    return JSONResponse({"message": message}, status)


class _Piston:
    """Routes of the API."""

    def __init__(self, fleet: Fleet, guard: Guard) -> None:
        self._fleet = fleet
        self._guard = guard

    def _tenant(self, request: Request) -> str:
        tenant = self._guard.principal(request.scope).tenant
        request.scope["llm_sandbox.tenant"] = tenant
        return tenant

    async def runtimes(self, request: Request) -> Response:
        """List the languages; the version is that of this library."""
        self._tenant(request)
        return JSONResponse(
            [
                {"language": name, "version": VERSION, "aliases": ALIASES.get(name, [])}
                for name in registry.available()
            ]
        )

    async def execute(self, request: Request) -> Response:
        """Run a program."""
        tenant = self._tenant(request)
        body = await read_object(request, self._fleet.options.body_bytes)
        program = _program(body, self._fleet.options.longest_program_s)
        patience_s = program.compile_timeout_s + program.run_timeout_s + _SLACK_S
        outcome = await in_long_thread(run_program, self._fleet, tenant, program, patience_s)
        answer: dict[str, object] = {"language": program.language, "version": VERSION}
        if outcome.compiled is not None:
            answer["compile"] = _step(outcome.compiled)
        # Clients read `run` in any case.
        ran = outcome.ran or outcome.compiled
        if ran is not None:
            answer["run"] = _step(ran)
        return JSONResponse(answer)


def _program(body: Mapping[str, Any], longest_s: float) -> WholeProgram:
    names = {alias: name for name, aliases in ALIASES.items() for alias in aliases}
    given = body.get("language")
    language = names.get(str(given), str(given))
    if language not in registry.available():
        raise UnsupportedError(f"{str(given)[:80]}-{str(body.get('version'))[:40]} runtime")
    _check_version(body.get("version", "*"))
    for name in _REFUSED:
        if body.get(name) not in (None, -1):
            raise UnsupportedError(name, reason="steps are limited by time and by all their memory")
    files = body.get("files")
    if not isinstance(files, list) or not files:
        raise ValidationError("files is required as an array", parameter="files")
    (main, code), *others = [_file(item) for item in files]
    args, stdin = body.get("args") or [], body.get("stdin") or ""
    if (
        not isinstance(args, list)
        or len(args) > _MOST_ARGUMENTS
        or not all(isinstance(arg, str) for arg in args)
    ):
        raise ValidationError("args is a list of strings", parameter="args")
    if not isinstance(stdin, str):
        raise ValidationError("stdin is a string", parameter="stdin")
    memory = body.get("run_memory_limit", -1)
    if isinstance(memory, bool) or not isinstance(memory, int):
        raise ValidationError("run_memory_limit is a number", parameter="run_memory_limit")
    return WholeProgram(
        language,
        code.decode("utf-8", "surrogateescape"),
        stdin,
        args,
        name=main if main is not None and main.endswith(".py") else None,
        # Files without a name have these there.
        files={path or f"file{n}.code": data for n, (path, data) in enumerate(others, 1)},
        compile_timeout_s=_seconds(body, "compile_timeout", 10.0, longest_s),
        run_timeout_s=_seconds(body, "run_timeout", 3.0, longest_s),
        memory_bytes=memory if memory > 0 else None,
    )


def _check_version(version: object) -> None:
    if version in ("*", VERSION, "x", "latest"):
        return
    if not isinstance(version, str):
        raise ValidationError("version is required as a string", parameter="version")
    raise UnsupportedError(
        f"the version {version[:40]!r}", reason="there is one version of each language", hint="'*'"
    )


def _file(item: object) -> tuple[str | None, bytes]:
    if not isinstance(item, Mapping) or not isinstance(item.get("content"), str):
        raise ValidationError("files.content is required as a string", parameter="files")
    name, text, encoding = item.get("name"), item["content"], item.get("encoding", "utf8")
    try:
        if encoding == "base64":
            data = base64.b64decode(text, validate=True)
        elif encoding == "hex":
            data = bytes.fromhex(text)
        elif encoding == "utf8":
            data = text.encode("utf-8", "surrogatepass")
        else:
            raise ValidationError("files.encoding is utf8, base64 or hex", parameter="files")
    except (binascii.Error, ValueError) as error:
        if isinstance(error, ValidationError):
            raise
        raise ValidationError(f"files.content is not {encoding}", parameter="files") from None
    return None if name is None else check_path(name), data


def _seconds(body: Mapping[str, Any], name: str, otherwise: float, longest_s: float) -> float:
    value = body.get(name, 0)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not value <= 1000 * longest_s:
        raise ValidationError(
            f"{name} is a number of milliseconds, at most {1000 * longest_s:g}", parameter=name
        )
    return value / 1000 if value > 0 else min(otherwise, longest_s)


def _step(step: ProgramResult) -> dict[str, object]:
    result, ended = step.result, step.ended
    status, message = None, None
    if ended.timed_out:
        status, message = "TO", "Time limit exceeded"
    elif ended.oom_killed:
        status, message = "SG", "Memory limit exceeded"
    elif result.dropped_bytes:
        status, message = "OL", "Output limit exceeded"
    elif ended.signal is not None:
        status, message = "SG", f"Caught fatal signal {ended.signal}"
    elif result.exit_code:
        status, message = "RE", f"Exited with error status {result.exit_code}"
    is_signal = ended.signal is not None or ended.timed_out or ended.oom_killed
    return {
        "stdout": result.stdout,
        "stderr": result.stderr,
        # Both streams are pipes of their own, so that their order is not known.
        "output": result.stdout + result.stderr,
        "code": None if is_signal else result.exit_code,
        "signal": signal_name(ended.signal or 9) if is_signal else None,
        "message": message,
        "status": status,
        "cpu_time": None if ended.cpu_s is None else round(1000 * ended.cpu_s),
        "wall_time": round(1000 * result.duration_s),
        "memory": ended.peak_memory_bytes,
    }
