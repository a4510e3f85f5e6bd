"""Activation of a micromamba environment: the variables and the Python of its programs.

An environment is activated once for each machine, and every program starts with the resulting
variables. With `micromamba run` around each program, each start would wait for it, and signals
would be reported as other numbers.
"""

import json
import os
import re
import secrets
import selectors
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llm_sandbox.backends.base import Exit, Machine, ProcessSpec
from llm_sandbox.exceptions import BackendError, LaunchError, ValidationError
from llm_sandbox.host.terminal import strip_controls

__all__ = ["Activation", "activate", "ask", "micromamba_program", "parse_report", "target_option"]

_TIMEOUT_S = 60.0
_LARGEST_OUTPUT = 1 << 20
_MOST_VARIABLES = 4096
_LONGEST_VALUE = 128 << 10
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}", re.ASCII)
_ENVIRONMENT = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.+-]{0,126}", re.ASCII)
_OF_THE_SHELL = frozenset({"_", "OLDPWD", "PS1", "PWD", "SHLVL"})
_OF_ONE_PROCESS = "LLM_SANDBOX_"
_SHOWN_ENVIRONMENTS = 20

# Activation scripts may print, so what follows the mark counts. Two records come before the
# variables: the mark, and the interpreter where there is one.
_REPORT = (
    "printf '\\0%s\\0' \"$1\"; "
    'if [ -x "$CONDA_PREFIX/bin/python" ]; then printf %s "$CONDA_PREFIX/bin/python"; fi; '
    "printf '\\0'; exec env -0"
)


@dataclass(frozen=True)
class Activation:
    """An activated environment."""

    prefix: str
    """Its folder."""
    variables: Mapping[str, str]
    """All variables of a program in it."""
    python: str | None
    """Its interpreter; None without one."""


def micromamba_program(variables: Mapping[str, str]) -> str:
    """Return the program: the variable that micromamba's images set, or its name."""
    return variables.get("MAMBA_EXE") or "micromamba"


def target_option(environment: str) -> tuple[str, str]:
    """Return the option that names an environment to micromamba.

    Raises:
        ValidationError: It is neither a name nor an absolute path.
    """
    if environment.startswith("/") and "\0" not in environment:
        return ("--prefix", environment)
    if not _ENVIRONMENT.fullmatch(environment):
        raise ValidationError(
            f"environment must be a name or an absolute path, not {environment!r}",
            parameter="environment",
        )
    return ("--name", environment)


def activate(machine: Machine, environment: str, *, timeout_s: float = _TIMEOUT_S) -> Activation:
    """Activate an environment in a machine.

    Args:
        machine: The machine; its image has `micromamba`.
        environment: Name or absolute path.
        timeout_s: Seconds that it may take; 60.

    Raises:
        ValidationError: There is no such environment; the message lists the existing ones.
        BackendError: The image has no micromamba, or its output is malformed.
    """
    option = target_option(environment)
    variables = machine.base_env()
    program = micromamba_program(variables)
    mark = secrets.token_hex(16)
    command = (program, "run", *option, "sh", "-c", _REPORT, "sh", mark)
    ended, output, errors = ask(machine, command, variables, timeout_s)
    found = parse_report(output, mark.encode()) if ended.exit_code == 0 else None
    if found is not None:
        return found
    if ended.timed_out:
        raise BackendError(
            f"activating the environment {environment!r} took longer than {timeout_s:g} s",
            op="activate",
            retryable=True,
        )
    known = _known_environments(machine, program, variables)
    if known and environment not in known.values() and environment not in known:
        shown = ", ".join(list(known)[:_SHOWN_ENVIRONMENTS])
        raise ValidationError(
            f"the image has no micromamba environment {environment!r}; it has: {shown}",
            parameter="environment",
            hint=f"environment={next(iter(known))!r}, or an image made with "
            f"`micromamba create -n {environment} ...`",
        )
    raise BackendError(
        f"the environment {environment!r} cannot be activated: {_words(errors)}", op="activate"
    )


def ask(
    machine: Machine, command: Sequence[str], variables: Mapping[str, str], timeout_s: float
) -> tuple[Exit, bytes, bytes]:
    """Run a program to its end; returns its exit, and the first MiB of each output.

    Args:
        machine: The machine.
        command: The program and its arguments.
        variables: All its variables.
        timeout_s: Seconds until it is killed.

    Raises:
        BackendError: There is no such program.
    """
    try:
        raw = machine.start(ProcessSpec(tuple(command), variables, "/", timeout_s))
    except LaunchError as error:
        if error.kind not in ("not_found", "not_executable"):
            raise
        raise BackendError(
            f"the image has no micromamba: {error.message}",
            op="activate",
            hint="use an image made from mambaorg/micromamba",
        ) from None
    deadline = time.monotonic() + timeout_s + 5.0
    try:
        # trust: what programs of the image print; read up to a limit, parsed strictly.
        output, errors = _drain(raw.stdout, raw.stderr, deadline)
    finally:
        machine.kill(raw.id)
    ended = raw.ending.wait(max(0.0, deadline - time.monotonic()))
    return ended or Exit(124, timed_out=True), output, errors


def _drain(stdout: int, stderr: int, deadline: float) -> tuple[bytes, bytes]:
    """Read both to their ends, up to a limit and a time; close them."""
    kept = {stdout: bytearray(), stderr: bytearray()}
    try:
        with selectors.DefaultSelector() as selector:
            for fd in kept:
                selector.register(fd, selectors.EVENT_READ)
            while selector.get_map() and (left := deadline - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    data = os.read(key.fd, 1 << 16)
                    kept[key.fd] += data
                    if not data or len(kept[key.fd]) >= _LARGEST_OUTPUT:
                        selector.unregister(key.fd)
    finally:
        os.close(stdout)
        os.close(stderr)
    return bytes(kept[stdout]), bytes(kept[stderr])


def parse_report(output: bytes, mark: bytes) -> Activation | None:
    """Parse the output of `env` after the mark; None if it is malformed.

    Args:
        output: Everything that came, written inside.
        mark: What the report begins with; nobody inside knew it before.
    """
    # trust: an activation script of the image may have printed anything before the mark.
    _, found, report = output.partition(b"\0" + mark + b"\0")
    if not found or not report.endswith(b"\0") or len(output) >= _LARGEST_OUTPUT:
        return None
    python, *entries = report[:-1].split(b"\0")
    variables: dict[str, str] = {}
    for entry in entries[:_MOST_VARIABLES]:
        name, equals, value = entry.partition(b"=")
        try:
            pair = name.decode("ascii"), value.decode()
        except UnicodeDecodeError:
            continue
        if not equals or len(value) > _LONGEST_VALUE or pair[0] in _OF_THE_SHELL:
            continue
        if _NAME.fullmatch(pair[0]) and not pair[0].startswith(_OF_ONE_PROCESS):
            variables[pair[0]] = pair[1]
    prefix = variables.get("CONDA_PREFIX", "")
    if not prefix.startswith("/") or "PATH" not in variables:
        return None
    wanted = f"{prefix}/bin/python"
    return Activation(prefix, variables, wanted if python == wanted.encode() else None)


def _known_environments(
    machine: Machine, program: str, variables: Mapping[str, str]
) -> dict[str, str]:
    """Path by name; empty when micromamba does not say."""
    _, output, _ = ask(machine, (program, "env", "list", "--json"), variables, _TIMEOUT_S)
    try:
        # trust: written inside; only short lines of text are taken from it.
        paths = json.loads(output)["envs"]
        known = [strip_controls(path)[:200] for path in paths[:_MOST_VARIABLES]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    root = variables.get("MAMBA_ROOT_PREFIX", "")
    return {"base" if path == root else os.path.basename(path): path for path in known}


def _words(errors: bytes) -> str:
    text = strip_controls(errors.decode("utf-8", "replace")).strip()
    return text[-500:] or "micromamba said nothing"
