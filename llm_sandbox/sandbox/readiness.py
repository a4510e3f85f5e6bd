"""Waiting for a sandbox: readiness probes, and the end of the sandbox."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from llm_sandbox.exceptions import (
    CommandFailedError,
    ContainerGoneError,
    LaunchError,
    SandboxTimeoutError,
    ValidationError,
)
from llm_sandbox.limits import Deadline, validate_timeout
from llm_sandbox.sandbox.checks import check_argv

if TYPE_CHECKING:
    from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = [
    "CommandReady",
    "PortReady",
    "ProbeSpec",
    "Readiness",
    "check_readiness",
    "probe_spec",
    "read_probe",
    "wait_for_end",
    "wait_until",
]

_EVERY_S = 0.1
_LONGEST_S = 3600.0
_SETTLE_S = 1.0
_LEAST_S = 0.01
_POLL_S = 0.05
_PORTS = range(1, 1 << 16)

ProbeSpec: TypeAlias = tuple[tuple[str, ...] | int, float]
"""A probe as plain data: the words of its command, or its port; and the seconds between probes."""


@dataclass(frozen=True)
class PortReady:
    """Probe that succeeds when a program of the sandbox accepts connections on a port.

    Raises:
        ValidationError: An argument is invalid.
    """

    port: int
    """The port, on the sandbox's own loopback; 1 to 65535."""
    every: float = _EVERY_S
    """Seconds between probes, up to an hour; 0.1."""

    def __post_init__(self) -> None:
        if isinstance(self.port, bool) or self.port not in _PORTS:
            raise ValidationError(
                f"invalid port: expected a number from 1 to {_PORTS[-1]}, got {self.port!r:.80}",
                parameter="port",
            )
        _check_every(self.every)

    def __str__(self) -> str:
        return f"port {self.port}"


@dataclass(frozen=True, init=False)
class CommandReady:
    """Probe that succeeds when a command in the sandbox exits with 0.

    Args:
        command: The program and its arguments, without a shell. It has the sandbox's variables and
            secrets.
        every: Seconds from the end of one run to the next, up to an hour; 0.1.

    Raises:
        ValidationError: An argument is invalid.
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
        # Arguments may hold secrets.
        return f"the command {self.command[0]!r}"


Readiness: TypeAlias = PortReady | CommandReady
"""A readiness probe."""


def check_readiness(ready: object) -> Readiness | None:
    """Return a readiness probe; None for none.

    Raises:
        ValidationError: `ready` is not a probe.
    """
    if ready is None or isinstance(ready, PortReady | CommandReady):
        return ready
    raise ValidationError(
        f"invalid ready: expected PortReady(port) or CommandReady('program', ...), "
        f"got {type(ready).__name__}",
        parameter="ready",
    )


def probe_spec(ready: Readiness | None) -> ProbeSpec | None:
    """Return a probe as plain data."""
    if ready is None:
        return None
    return (ready.port if isinstance(ready, PortReady) else ready.command), ready.every


def read_probe(spec: ProbeSpec | None) -> Readiness | None:
    """Return the probe that `probe_spec` described."""
    if spec is None:
        return None
    what, every = spec
    return PortReady(what, every) if isinstance(what, int) else CommandReady(*what, every=every)


def wait_until(
    sandbox: "Sandbox",
    ready: Readiness | None,
    timeout: float | None,
    check: Callable[[], None],
) -> None:
    """Wait until a sandbox is ready; see `Sandbox.wait_until_ready`.

    Args:
        sandbox: The sandbox.
        ready: The probe.
        timeout: Seconds to wait at most; None for no limit.
        check: Called between probes; raises when the caller was cancelled.
    """
    if ready is None:
        raise ValidationError(
            "the sandbox was created without a readiness probe",
            parameter="ready",
            hint="Sandbox.create(..., ready=PortReady(8000))",
        )
    seconds = validate_timeout(timeout)
    deadline = Deadline.after(seconds)
    failure: str | None = None
    while True:
        check()
        try:
            # A probe that starts without time left would fail for that, and hide the true reason.
            if failure is None or not deadline.expired:
                failure = _probe(sandbox, ready, deadline)
        except ContainerGoneError:
            raise _ended(sandbox, ready, "it no longer existed") from None
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
                hint="wait longer, or read the output of sandbox.entry",
            )
        left = deadline.remaining()
        _pause(sandbox, ready.every if left is None else min(ready.every, left), check)


def wait_for_end(sandbox: "Sandbox", timeout: float | None) -> int:
    """Wait until a sandbox has ended, and return its exit code; see `Sandbox.wait`."""
    deadline = Deadline.after(timeout)
    while (code := sandbox.poll()) is None:
        left = deadline.remaining()
        if left is not None and left <= 0:
            raise SandboxTimeoutError(
                f"the sandbox still lives after {timeout} s",
                timeout,
                op="wait",
                backend=sandbox.backend,
            )
        time.sleep(_POLL_S if left is None else min(_POLL_S, left))
    return code


def _probe(sandbox: "Sandbox", ready: Readiness, deadline: Deadline) -> str | None:
    """Run the probe once; return why it failed, None if it succeeded."""
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


def _pause(sandbox: "Sandbox", seconds: float, check: Callable[[], None]) -> None:
    """Wait before the next probe, but no longer than the sandbox lives."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and sandbox._machine.end_reason is None:
        check()
        time.sleep(min(left, _POLL_S))


def _entry(sandbox: "Sandbox") -> str:
    entry = sandbox.entry
    if entry is None:
        return "it has no entry command"
    code = entry.poll()
    stands = "still runs" if code is None else f"ended with {code}"
    return f"its entry command {stands}"


def _ended(sandbox: "Sandbox", ready: Readiness, failure: str) -> ContainerGoneError:
    # The end of the sandbox and that of its entry are reported one after the other.
    until = time.monotonic() + _SETTLE_S
    entry: Any = sandbox.entry
    while time.monotonic() < until and (
        sandbox._machine.end_reason is None or (entry is not None and entry.poll() is None)
    ):
        time.sleep(0.01)
    return ContainerGoneError(
        f"the sandbox ended ({sandbox._machine.end_reason}) before it was ready: {ready}: "
        f"{failure}; {_entry(sandbox)}",
        op="wait_until_ready",
        backend=sandbox.backend,
        hint="sandbox.entry has the output of its entry command" if entry is not None else None,
    )


def _check_every(every: object) -> None:
    is_number = isinstance(every, int | float) and not isinstance(every, bool)
    if not is_number or not 0 < every <= _LONGEST_S:  # type: ignore[operator]
        raise ValidationError(
            f"invalid every: expected seconds above 0, up to {_LONGEST_S:g}, got {every!r:.80}",
            parameter="every",
        )
