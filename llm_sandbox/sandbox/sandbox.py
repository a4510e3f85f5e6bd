"""The sandbox: a machine for programs that nobody vouches for."""

import contextlib
import logging
import time
from collections.abc import Mapping
from typing import Any, Self

from llm_sandbox.backends.base import (
    Backend,
    Isolation,
    Machine,
    MachineSpec,
    Network,
    ProcessSpec,
)
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.selection import choose
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.data import ProcessResult
from llm_sandbox.exceptions import (
    CommandEmptyError,
    CommandFailedError,
    SessionClosedError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.limits import Limits, validate_timeout
from llm_sandbox.sandbox.files import SandboxFiles
from llm_sandbox.sandbox.process import Pipe, Process, redacted
from llm_sandbox.sandbox.service import FileService
from llm_sandbox.sandbox.touches import Touches

__all__ = ["Sandbox"]

logger = logging.getLogger(__name__)

_USERS = (None, "sandbox", 65532, "65532")
_EXIT_CODES = {"deadline": 124}
_TERMINATED = 137


class Sandbox:
    """A machine with files, processes and an end; made by `Sandbox.create`.

    Safe to use from several threads. As a context manager it is destroyed at the block's end.

    Raises:
        SessionClosedError: By every method but `destroy` and `poll`, after `destroy`.
        ContainerGoneError: By the same, after the sandbox has ended by itself.
    """

    def __init__(
        self,
        machine: Machine,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        self._machine = machine
        self._env = _check_env("env", env)
        self._secrets = _check_env("secrets", secrets)
        self._service = FileService(machine.open_files, machine.isolation.backend)
        self._touches = Touches()
        self._files = SandboxFiles(self._service, machine.spec.workdir, self._touches)
        self._destroyed = False

    @classmethod
    def create(
        cls,
        *,
        backend: str | Backend | None = None,
        image: str | Snapshot | None = None,
        workdir: str = "/sandbox",
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        network: Network = "blocked",
        timeout: float | None = None,
    ) -> Self:
        """Make a sandbox.

        Args:
            backend: Where it lives, by name or as an object; None picks one that isolates, or the
                one that a snapshot was made by.
            image: Image of a container backend, or what `snapshot` returned; None for the image of
                Python sessions.
            workdir: Its working directory, absolute.
            env: Environment variables of every program.
            secrets: More of them, whose values appear in no message of ours.
            limits: What it may use; None for the defaults of `Limits`.
            network: ``blocked``, or ``open`` for the host's network.
            timeout: Seconds until it ends by itself, even if this process is stuck; None for no
                limit.

        Raises:
            BackendUnavailableError: The backend does not work here; the hint says what to do.
            UnsupportedError: The backend cannot honour an option.
            ValidationError: An option is not acceptable.
        """
        if network not in ("blocked", "open"):
            raise ValidationError("network is 'blocked' or 'open'", parameter="network")
        env, secrets = _check_env("env", env), _check_env("secrets", secrets)
        spec = MachineSpec(workdir, limits or Limits(), network, validate_timeout(timeout))
        if backend is None and isinstance(image, Snapshot):
            backend = image.backend
        if isinstance(backend, Backend):
            chosen = backend
        elif backend is not None:
            # The registry keeps one object for each spelling.
            chosen = get_backend(str(backend).lower())
        else:
            chosen, reason = choose()
            logger.debug("backend %s: %s", chosen.name, reason)
        if image is not None:
            from llm_sandbox.backends.containers.bound import bind_image

            chosen = bind_image(chosen, image)
        if network == "open":
            logger.warning("network='open': programs in this sandbox reach the host's network")
        return cls(chosen.create(spec), env, secrets)

    @classmethod
    def from_machine(cls, machine: Machine, env: Mapping[str, str] | None = None) -> Self:
        """Make a sandbox of a machine, which it owns from then on."""
        return cls(machine, env)

    def update_env(self, env: Mapping[str, str]) -> None:
        """Add environment variables for programs that are started from now on."""
        self._env |= _check_env("env", env)

    # --- facts

    @property
    def id(self) -> str:
        """Its name, one of its kind."""
        return self._machine.id

    @property
    def backend(self) -> str:
        """Name of the backend it lives in."""
        return self._machine.isolation.backend

    @property
    def isolation(self) -> Isolation:
        """What holds it, resource by resource."""
        return self._machine.isolation

    @property
    def limits(self) -> Limits:
        """What it may use."""
        return self._machine.spec.limits

    @property
    def workdir(self) -> str:
        """Its working directory, as its programs see it."""
        return self._machine.spec.workdir

    @property
    def files(self) -> SandboxFiles:
        """Its files."""
        self._check_open()
        return self._files

    def __repr__(self) -> str:
        state = self.end_reason or "running"
        return f"<Sandbox {self.id}, {self.backend}, {state}>"

    # --- programs

    def exec(
        self,
        *argv: str,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes | str | Pipe | None = None,
        timeout: float | None = None,
        user: str | int | None = None,
    ) -> Process:
        """Start a program; its words are passed on as they are, no shell sees them.

        Args:
            argv: The program and its arguments.
            env: Variables for this program, over those of the sandbox.
            cwd: Its working directory; relative to the sandbox's, and None for that.
            stdin: What it reads: text, bytes, `PIPE` to write to `Process.stdin`, or None for
                nothing.
            timeout: Seconds until it is killed with everything it started, and ends with 124; None
                for no limit.
            user: None, ``sandbox`` or 65532: the only user there is.

        Raises:
            LaunchError: There is no such program or directory, or it cannot be executed.
            CommandEmptyError: There are no words.
            ValidationError: An argument is not acceptable.
            UnsupportedError: Another user.
        """
        self._check_open()
        _check_argv(argv)
        self._check_user(user)
        if cwd is not None:
            cwd = self._files.resolve(cwd)
        given = _check_stdin(stdin)
        environment = self._machine.base_env() | self._env | self._secrets | _check_env("env", env)
        spec = ProcessSpec(argv, environment, cwd, validate_timeout(timeout), stdin is not None)
        started = time.monotonic()
        raw = self._machine.start(spec)
        self._touches.follow(raw.ending)
        return Process(self._machine, raw, argv, started=started, given=given)

    def sh(self, text: str, **options: Any) -> Process:
        """Start a shell with a command line; options as in `exec`."""
        return self.exec("sh", "-c", text, **options)

    def check(self, *argv: str, **options: Any) -> ProcessResult:
        """Run a program to its end and return its `ProcessResult`; options as in `exec`.

        Raises:
            CommandFailedError: Its exit status was not 0; values of secrets are left out of the
                error.
        """
        process = self.exec(*argv, **options)
        try:
            result = process.collect()
        except BaseException:
            process.kill()
            raise
        if result.exit_code == 0:
            return result
        shown = redacted(result, tuple(value for value in self._secrets.values() if value))
        raise CommandFailedError(
            " ".join(shown.command),
            result.exit_code,
            shown.stdout + shown.stderr,
            op="check",
            backend=self.backend,
        )

    def _check_user(self, user: str | int | None) -> None:
        if user is None:
            return
        if user not in _USERS or self.isolation.level == "none":
            raise UnsupportedError(
                f"user={user!r}", self.backend, "programs run as the sandbox's one user"
            )

    # --- life

    def poll(self) -> int | None:
        """None while it lives, 124 after its timeout, 137 after any other end."""
        reason = self.end_reason
        return None if reason is None else _EXIT_CODES.get(reason, _TERMINATED)

    @property
    def end_reason(self) -> str | None:
        """Why it has ended: ``closed``, ``deadline``, ``gone``; None while it lives."""
        return self._machine.end_reason

    def set_timeout(self, seconds: float | None) -> None:
        """Have it end `seconds` from now, whatever was said before; None for never."""
        self._check_open()
        self._machine.set_deadline(validate_timeout(seconds, "seconds"))

    def snapshot(self, name: str | None = None) -> Snapshot:
        """Save the sandbox's files, from which others can be made: ``Sandbox.create(image=...)``.

        Processes, variables of sessions and secrets are not part of it. It stays until its image is
        removed.

        Args:
            name: Name of the image; None makes one up.

        Raises:
            UnsupportedError: The backend has no images.
            OutputLimitError: The working directory holds more than 256 MiB.
            ContainerGoneError: The sandbox has ended.
        """
        self._check_open()
        return self._machine.snapshot(self._files.archive(), name)

    def destroy(self) -> None:
        """End it with everything in it; returns at once, and may be called twice."""
        self._destroyed = True
        self._machine.destroy()
        self._service.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()

    def _check_open(self) -> None:
        if self._destroyed:
            raise SessionClosedError(
                "the sandbox was destroyed", hint="create a new one", backend=self.backend
            )


def _check_argv(argv: tuple[str, ...]) -> None:
    if not argv:
        raise CommandEmptyError
    for number, word in enumerate(argv):
        _check_text(word, f"word {number} of the command", "argv")


def _check_env(name: str, env: Mapping[str, str] | None) -> dict[str, str]:
    checked = dict(env or {})
    for key, value in checked.items():
        _check_text(key, f"a name in {name}", name)
        if not key or "=" in key:
            raise ValidationError(f"a name in {name} is empty or holds '='", parameter=name)
        _check_text(value, f"the value of {key!r} in {name}", name)
    return checked


def _check_text(text: object, what: str, parameter: str) -> None:
    if not isinstance(text, str):
        raise ValidationError(f"{what} is no text", parameter=parameter)
    if "\0" in text:
        raise ValidationError(f"{what} holds a NUL", parameter=parameter)
    with contextlib.suppress(UnicodeEncodeError):
        text.encode("utf-8", "surrogateescape")
        return
    # Not chained: the encoder's own error holds the text, which may be a secret.
    raise ValidationError(f"{what} cannot be encoded", parameter=parameter)


def _check_stdin(stdin: object) -> bytes | None:
    if stdin is None or isinstance(stdin, Pipe):
        return None
    if isinstance(stdin, str):
        return stdin.encode("utf-8", "surrogateescape")
    if isinstance(stdin, (bytes, bytearray, memoryview)):
        return bytes(stdin)
    raise ValidationError("stdin is text, bytes, PIPE or None", parameter="stdin")
