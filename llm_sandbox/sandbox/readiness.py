"""When a sandbox is ready: how that is looked at, and waiting for it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from llm_sandbox.exceptions import (
    CommandFailedError,
    ContainerGoneError,
    LaunchError,
    SandboxTimeoutError,
    ValidationError,
)
from llm_sandbox.limits import Deadline, validate_timeout
from llm_sandbox.sandbox.checks import check_argv
from llm_sandbox.sandbox.programs import SandboxPrograms

__all__ = [
    "CommandReady",
    "PortReady",
    "Readiness",
    "ReadinessFacts",
    "SandboxReadiness",
    "check_readiness",
    "readiness_facts",
    "wait_until",
]

_EVERY_S = 0.1
_LONGEST_S = 3600.0
_SETTLE_S = 1.0
_LEAST_S = 0.01
_PORTS = range(1, 1 << 16)

ReadinessFacts: TypeAlias = tuple[tuple[str, ...] | int, float]
"""A probe as plain data: the words of its command, or its port; and the seconds between looks."""


@dataclass(frozen=True)
class PortReady:
    """Ready when a program of the sandbox takes connections at a port.

    Raises:
        ValidationError: A value is not of its kind.
    """

    port: int
    """The port, on the sandbox's own loopback; 1 to 65535."""
    every: float = _EVERY_S
    """Seconds between looks, up to an hour; 0.1."""

    def __post_init__(self) -> None:
        if isinstance(self.port, bool) or self.port not in _PORTS:
            raise ValidationError(f"port is a number from 1 to {_PORTS[-1]}", parameter="port")
        _check_every(self.every)

    def __str__(self) -> str:
        return f"port {self.port}"


@dataclass(frozen=True, init=False)
class CommandReady:
    """Ready when a command that is run in the sandbox ends with 0.

    Args:
        command: The program and its arguments; no shell sees them. It has the sandbox's variables
            and secrets.
        every: Seconds from the end of one run to the next, up to an hour; 0.1.

    Raises:
        ValidationError: A value is not of its kind.
    """

    command: tuple[str, ...]
    """The program and its arguments."""
    every: float
    """Seconds from the end of one run to the next."""

    def __init__(self, *command: str, every: float = _EVERY_S) -> None:
        check_argv(command)
        _check_every(every)
        object.__setattr__(self, "command", command)
        object.__setattr__(self, "every", every)

    def __str__(self) -> str:
        # Arguments may hold what is nobody's business.
        return f"the command {self.command[0]!r}"


Readiness: TypeAlias = PortReady | CommandReady
"""How it is looked at."""


def check_readiness(ready: object) -> Readiness | None:
    """Return what a sandbox's readiness is looked at by; None for nothing.

    Raises:
        ValidationError: It is something else.
    """
    if ready is None or isinstance(ready, PortReady | CommandReady):
        return ready
    raise ValidationError(
        "ready is PortReady(port) or CommandReady('program', ...)", parameter="ready"
    )


def readiness_facts(ready: Readiness | None) -> ReadinessFacts | None:
    """Return a probe as plain data, which `SandboxReadiness` takes."""
    if ready is None:
        return None
    return (ready.port if isinstance(ready, PortReady) else ready.command), ready.every


class SandboxReadiness(SandboxPrograms):
    """The part of `Sandbox` that waits until it is ready."""

    _ready: Readiness | None = None

    def _take_readiness(self, facts: ReadinessFacts | None) -> None:
        if facts is not None:
            what, every = facts
            if isinstance(what, int):
                self._ready = PortReady(what, every)
            else:
                self._ready = CommandReady(*what, every=every)

    def wait_until_ready(self, timeout: float | None = 60.0) -> None:
        """Wait until the sandbox is ready: what it was created with as ``ready=`` has succeeded.

        Returns at once when it is ready already.

        Args:
            timeout: Seconds to wait at most; None for no limit. The sandbox lives on.

        Raises:
            SandboxTimeoutError: It is not ready; the message has the probe, its last failure, and
                how the entry stands.
            ContainerGoneError: It has ended before it was ready; the message says how.
            ValidationError: It was created without ``ready=``.
        """
        wait_until(self, self._ready, timeout, lambda: None)


def wait_until(
    sandbox: SandboxReadiness,
    ready: Readiness | None,
    timeout: float | None,
    check: Callable[[], None],
) -> None:
    """Wait until a sandbox is ready; see `SandboxReadiness.wait_until_ready`.

    Args:
        sandbox: The sandbox.
        ready: How that is looked at.
        timeout: Seconds to wait at most; None for no limit.
        check: Called between looks; raises when nobody waits any more.
    """
    if ready is None:
        raise ValidationError(
            "the sandbox was created without ready=, so that nobody knows when it is",
            parameter="ready",
            hint="Sandbox.create(..., ready=PortReady(8000))",
        )
    seconds = validate_timeout(timeout)
    deadline = Deadline.after(seconds)
    failure: str | None = None
    while True:
        check()
        try:
            # What is begun without time left would fail for that, and hide the true reason.
            if failure is None or not deadline.expired:
                failure = _look(sandbox, ready, deadline)
        except ContainerGoneError:
            raise _ended(sandbox, ready, "it was gone before") from None
        if failure is None:
            return
        if sandbox._machine.end_reason is not None:
            raise _ended(sandbox, ready, failure)
        if deadline.expired:
            raise SandboxTimeoutError(
                f"the sandbox is not ready after {seconds:g} s: {ready}: {failure}; "
                f"{_entry(sandbox)}",
                seconds,
                op="wait_until_ready",
                backend=sandbox.backend,
                hint="wait longer, or look at what sandbox.entry has written",
            )
        left = deadline.remaining()
        _pause(sandbox, ready.every if left is None else min(ready.every, left), check)


def _look(sandbox: SandboxReadiness, ready: Readiness, deadline: Deadline) -> str | None:
    """Look once; returns why it is not ready, None if it is."""
    sandbox._check_open()
    if isinstance(ready, PortReady):
        try:
            sandbox._machine.connect(ready.port).close()
        except OSError as error:
            return error.strerror or str(error)
        return None
    left = deadline.remaining()
    try:
        sandbox.check(*ready.command, timeout=None if left is None else max(left, _LEAST_S))
    except CommandFailedError as error:
        return f"it ended with {error.exit_code}"
    except LaunchError as error:
        return f"it did not start: {error.kind}"
    return None


def _pause(sandbox: SandboxReadiness, seconds: float, check: Callable[[], None]) -> None:
    """Wait before the next look, but no longer than the sandbox lives."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and sandbox._machine.end_reason is None:
        check()
        time.sleep(min(left, 0.05))


def _entry(sandbox: SandboxReadiness) -> str:
    entry = sandbox.entry
    if entry is None:
        return "it has no entry command"
    code = entry.poll()
    stands = "still runs" if code is None else f"ended with {code}"
    return f"its entry command {stands}"


def _ended(sandbox: SandboxReadiness, ready: Readiness, failure: str) -> ContainerGoneError:
    # The end of the sandbox and that of its entry are told one after the other.
    until = time.monotonic() + _SETTLE_S
    entry: Any = sandbox.entry
    while entry is not None and entry.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    return ContainerGoneError(
        f"the sandbox ended ({sandbox._machine.end_reason}) before it was ready: {ready}: "
        f"{failure}; {_entry(sandbox)}",
        op="wait_until_ready",
        backend=sandbox.backend,
        hint="sandbox.entry has what its entry command wrote" if entry is not None else None,
    )


def _check_every(every: object) -> None:
    is_number = isinstance(every, int | float) and not isinstance(every, bool)
    if not is_number or not 0 < every <= _LONGEST_S:  # type: ignore[operator]
        raise ValidationError(f"every is seconds above 0, up to {_LONGEST_S:g}", parameter="every")
