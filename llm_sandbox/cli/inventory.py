"""Implementation of `llm-sandbox ps`, `stop` and `gc`: detached sandboxes, and resources of
container engines.
"""

import json
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from llm_sandbox.backends.engine_probe import permission_hint
from llm_sandbox.cli.daemon.control import read_status, stop_daemon
from llm_sandbox.cli.detached import find, records, to_row
from llm_sandbox.cli.exit_codes import NOT_FOUND
from llm_sandbox.cli.images import EngineName
from llm_sandbox.cli.render import format_age, print_table, say
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    SandboxError,
    SandboxNotFoundError,
    ValidationError,
)
from llm_sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from llm_sandbox.backends.base import Backend
    from llm_sandbox.backends.inventory import Decision, Resource
    from llm_sandbox.sandbox.detached.record import Record

__all__ = [
    "clean_up",
    "end_sandboxes",
    "is_listed",
    "list_sandboxes",
    "print_decisions",
    "print_resources",
    "read_age",
]

_UNLISTED = (
    "other bubblewrap, gvisor and local sandboxes are processes of the program that made them, end "
    "with it, and are listed nowhere"
)
_PATIENCE_S = 3.0
_START = "start it (systemctl start docker), or name one by DOCKER_HOST"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def list_sandboxes(
    name: EngineName | None, *, everything: bool, verbose: bool, as_json: bool
) -> int:
    """Print the sandboxes, and return the exit code."""
    engines, problems = _engines(name)
    found: list[Resource] = []
    for engine in engines:
        try:
            held = engine.inventory.resources()
        except SandboxError as error:
            problems[engine.name] = error
            continue
        wanted = [one for one in held if everything or is_listed(one)]
        found += engine.inventory.measure(wanted)
    detached = records() if name is None else []
    daemon = read_status() if name is None else None
    if as_json:
        rows = [one.to_dict() for one in found]
        words = {engine: error.message for engine, error in problems.items()}
        shown = {"sandboxes": rows, "unreachable": words, "note": _UNLISTED}
        if daemon is not None:
            shown["command_daemon"] = asdict(daemon)
        print(json.dumps({"kept": [to_row(one) for one in detached], **shown}, indent=2))
    else:
        print_table([_DETACHED_HEAD, *map(_detached_row, detached)] if detached else [])
        if found:
            print_resources(found)
        elif engines:
            print(f"no sandboxes in {' and '.join(engine.name for engine in engines)}")
        elif not detached:
            print("no sandboxes")
        if daemon is not None:
            say(
                f"process {daemon.pid} keeps a sandbox ready for the next `run`, for "
                f"{daemon.idle_s} s after the last",
                "llm-sandbox stop --all ends it",
            )
        _say_problems(problems, verbose=verbose or name is not None)
        if verbose:
            say(_UNLISTED)
    return 1 if name is not None and problems else 0


def is_listed(one: "Resource") -> bool:
    """Return whether it is a sandbox that runs, or is about to."""
    return one.kind == "sandbox" and one.state in ("running", "paused", "pending")


_DETACHED_HEAD = ("DETACHED", "NAME", "BACKEND", "AGE", "ENDS IN", "COMMAND", "TAGS")


def _detached_row(one: "Record") -> tuple[str, ...]:
    now = time.time()
    named = one.name or "-"
    return (
        one.id,
        named if one.namespace == "default" else f"{one.namespace}/{named}",
        one.backend,
        format_age(now - one.created_at),
        "-" if one.ends_at is None else format_age(one.ends_at - now),
        f"{one.session} session" if one.session is not None else one.command or "-",
        ",".join(f"{key}={value}" for key, value in one.tags.items()) or "-",
    )


def _stop_detached(ids: Sequence[str], *, every: bool) -> tuple[list[str], bool]:
    """End detached sandboxes; return the ids without a match, and whether any failed."""
    left, failed = [], False
    for word in [one.id for one in records()] if every else ids:
        try:
            sandbox = find(word)
        except (SandboxNotFoundError, ValidationError):
            left.append(word)
            continue
        try:
            sandbox.destroy()
            print(f"ended {sandbox.backend} sandbox {sandbox.id}")
        except SandboxError as error:
            failed = True
            say(error.message, error.hint)
    return left, failed


def end_sandboxes(
    ids: Sequence[str], name: EngineName | None, *, every: bool, verbose: bool
) -> int:
    """End the named sandboxes, and return the exit code."""
    if bool(ids) == every:
        say("which sandboxes?", "llm-sandbox stop ID..., or llm-sandbox stop --all")
        return 2
    detached_failed, detached_ended = False, 0
    if every and name is None and (daemon := stop_daemon()) is not None:
        print(f"ended process {daemon.pid}, which kept a sandbox ready")
    if name is None:
        given = len(ids)
        ids, detached_failed = _stop_detached(ids, every=every)
        detached_ended = 0 if every else given - len(ids)
    if detached_ended and not ids:
        return 1 if detached_failed else 0
    engines, problems = _engines(name)
    there: list[tuple[Backend, Resource]] = []
    for engine in engines:
        try:
            held = engine.inventory.resources()
            there += [(engine, one) for one in held if one.kind == "sandbox"]
        except SandboxError as error:
            problems[engine.name] = error
    chosen = there if every else []
    missing = False
    failed = detached_failed or bool(name is not None and problems)
    for word in () if every else ids:
        match = [pair for pair in there if word and pair[1].id.startswith(word.lower())]
        if len(match) == 1:
            chosen.append(match[0])
            continue
        missing = True
        if match:
            say(f"{len(match)} sandboxes begin with {word!r}", "give more of the id")
        else:
            say(f"there is no sandbox {word!r}", "llm-sandbox ps --all lists those there are")
    ended = [_remove(engine, one) for engine, one in dict.fromkeys((a, b.id) for a, b in chosen)]
    if every and not chosen:
        print("no sandboxes to end")
    _say_problems(problems, verbose=verbose or name is not None)
    if missing:
        return NOT_FOUND
    return 1 if failed or not all(ended) else 0


def _remove(engine: "Backend", container: str) -> bool:
    """End a container's sandbox; return whether that succeeded."""
    try:
        engine.inventory.remove(container)
    except SandboxError as error:
        say(error.message, error.hint)
        return False
    print(f"ended {engine.name} sandbox {container[:12]}")
    return True


def clean_up(
    name: EngineName | None, older_than: str | None, *, dry_run: bool, verbose: bool, as_json: bool
) -> int:
    """Remove what no living process owns, and return the exit code."""
    try:
        younger_stays_s = read_age(older_than) if older_than is not None else 0.0
    except ValidationError as error:
        say(error.message, error.hint)
        return 2
    lost = Sandbox.gc() if name is None and not dry_run and older_than is None else []
    engines, problems = _engines(name)
    decisions: list[Decision] = []
    for engine in engines:
        try:
            inventory = engine.inventory
            decided = inventory.decide(inventory.resources(), younger_stays_s)
            decisions += decided if dry_run else inventory.collect(decided)
        except SandboxError as error:
            problems[engine.name] = error
    if as_json:
        words = {engine: error.message for engine, error in problems.items()}
        rows = [decision.to_dict() for decision in decisions]
        shown = {"dry_run": dry_run, "items": rows, "unreachable": words, "kept": lost}
        print(json.dumps(shown, indent=2))
    else:
        for one in lost:
            print(f"removed what was left of {one}, whose daemon was killed")
        print_decisions(decisions, dry_run=dry_run)
        _say_problems(problems, verbose=verbose or name is not None)
    return 1 if name is not None and problems else 0


def _engines(name: EngineName | None) -> "tuple[list[Backend], dict[str, SandboxError]]":
    """Return the engines that answer, and the errors of the others."""
    found, problems = [], {}
    for wanted in EngineName if name is None else (name,):
        try:
            found.append(_engine(wanted))
        except SandboxError as error:
            problems[wanted.value] = error
    return found, problems


def _engine(name: EngineName) -> "Backend":
    from llm_sandbox.backends.engine_probe import probe_engine
    from llm_sandbox.backends.registry import get_backend

    if name is EngineName.PODMAN and shutil.which("podman") is None:
        finding = probe_engine(name, "none", _PATIENCE_S)
        if not finding.answers:
            raise BackendUnavailableError(
                "podman is not installed, and none answers elsewhere", backend=name
            )
    if name is EngineName.DOCKER:
        # Its client waits a minute for an engine that does not answer.
        finding = probe_engine(name, "none", _PATIENCE_S)
        if not finding.answers and not str(finding.address).startswith("ssh:"):
            raise BackendUnavailableError(
                f"no docker engine answers at {finding.address}: {finding.problem}",
                backend=name,
                hint=permission_hint("docker", finding.problem, _START),
            )
    backend = get_backend(name.value)
    backend.ping()
    return backend


# --- for people


def _say_problems(problems: "dict[str, SandboxError]", *, verbose: bool) -> None:
    """Print which engines were left out; those that are not installed only if verbose."""
    for engine, error in problems.items():
        if verbose or not isinstance(error, BackendUnavailableError):
            say(f"{engine} was left out: {error.message}", error.hint)


def print_resources(found: "Sequence[Resource]") -> None:
    """Print a table of resources."""
    head = ("ID", "ENGINE", "KIND", "STATE", "AGE", "OWNER", "MEMORY", "NETWORK", "IMAGE")
    print_table([head, *map(_row, found)])


def _row(one: "Resource") -> tuple[str, ...]:
    memory = "-" if one.memory_bytes is None else f"{one.memory_bytes / 1_000_000:.0f} MB"
    return (
        one.name,
        one.engine,
        one.kind,
        one.state or ("in use" if one.in_use else "unused"),
        format_age(one.age_s()),
        _owner(one),
        memory,
        one.network or "-",
        one.image or "-",
    )


def _owner(one: "Resource") -> str:
    if one.owner is None:
        return "-"
    match one.owner_state:
        case "alive":
            return f"process {one.owner.pid}"
        case "dead":
            return f"process {one.owner.pid}, ended"
        case _:
            return f"process {one.owner.pid} on {one.owner.host}"


def print_decisions(decisions: "Sequence[Decision]", *, dry_run: bool) -> None:
    """Print what was removed, or would be, and why."""
    print_table([_decision_row(decision, dry_run) for decision in decisions])
    removed = sum(decision.remove for decision in decisions)
    would = "would be " if dry_run else ""
    print(f"{removed} {would}removed, {len(decisions) - removed} kept")


def _decision_row(decision: "Decision", dry_run: bool) -> tuple[str, ...]:
    one = decision.resource
    done = ("would remove" if dry_run else "removed") if decision.remove else "kept"
    return done, one.engine, one.kind, one.name, decision.why


def read_age(age: str) -> float:
    """Return the seconds of an age such as ``30m``.

    Raises:
        ValidationError: It is malformed.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", age.strip().lower())
    if match is None:
        raise ValidationError(
            f"invalid age: expected a number and a unit, got {age!r}",
            parameter="older_than",
            hint="such as 90s, 30m, 1h or 2d",
        )
    return float(match[1]) * _UNITS[match[2] or "s"]
