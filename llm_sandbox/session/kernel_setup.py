"""Start-up of a session's interpreter: its environment, start, connection and readiness."""

import contextlib
import secrets
import time
from collections.abc import Mapping, Sequence

from llm_sandbox.backends.base import KernelSpec, Machine, RawKernel
from llm_sandbox.const import SupportedLanguage
from llm_sandbox.exceptions import KernelNotReadyError, SandboxError, UnsupportedError
from llm_sandbox.kernel.client import KernelClient
from llm_sandbox.kernel.output_buffer import OutputBuffer
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.language_handlers.registry import BUILTIN
from llm_sandbox.limits import Deadline, Limits
from llm_sandbox.results.outputs import StreamOutput
from llm_sandbox.sandbox.sandbox import Sandbox
from llm_sandbox.session.config import SessionConfig

__all__ = [
    "KERNEL_ENVIRONMENT",
    "KernelSetup",
    "await_start",
    "connect_kernel",
    "start_kernel",
    "wait_for_kernel",
]

KERNEL_ENVIRONMENT = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    # Its own pool reserves a gigabyte, which a limit on memory counts as used.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Default variables of Python's interpreter; those of the caller override them."""

_SHIM_PARENT = "/tmp"  # noqa: S108 - inside the sandbox
_START_S = 60.0
_ERROR_BYTES = 4096


class KernelSetup:
    """Choice of interpreter for a session's language, and the arguments that start it.

    Args:
        handler: The language.
        config: The session's settings.
    """

    def __init__(self, handler: AbstractLanguageHandler, config: SessionConfig) -> None:
        self._handler = handler
        self._config = config
        self.is_python = handler.name == SupportedLanguage.PYTHON
        wraps = not self.is_python and config.persistent and handler.interpreter("") is not None
        self.has_kernel = self.is_python or wraps
        """Whether there is an interpreter to start; without one every run is a program."""
        self._uploaded: str | None = None
        self._upload_sandbox: Sandbox | None = None

    @property
    def starts_late(self) -> bool:
        """Whether the interpreter is started by the first run that needs it."""
        return self.has_kernel and self._handler.starts_late

    # --- the language's own files in the machine

    def shim(self, machine: Machine) -> str:
        """Return the path in the machine of the language's own files."""
        return self._uploaded or machine.language_folder(self._family)

    @property
    def _family(self) -> str:
        folder = self._handler.shim_folder
        return folder.parent.name if folder is not None else self._handler.name

    def upload_shim(self, sandbox: Sandbox) -> None:
        """Upload the files of a language from another package; built-in ones are there already."""
        folder = self._handler.shim_folder
        if folder is None or self._handler.name in BUILTIN:
            return
        # An existing container of the caller may hold other sessions of the language.
        self._uploaded = f"{_SHIM_PARENT}/.llm-sandbox-{self._handler.name}-{secrets.token_hex(4)}"
        self._upload_sandbox = sandbox
        sandbox.files.upload(folder, self._uploaded)

    @property
    def uploaded_shim(self) -> str | None:
        """Path in the machine of the files that `upload_shim` has put there; None for none."""
        return self._uploaded

    def restore_shim(self, path: str | None, sandbox: Sandbox) -> None:
        """Take over the files that another process has uploaded for the same session."""
        self._uploaded = path
        self._upload_sandbox = None if path is None else sandbox

    def remove_shim(self) -> None:
        """Remove the uploaded files: an existing container of the caller stays as it was."""
        sandbox, self._upload_sandbox = self._upload_sandbox, None
        if sandbox is not None and self._uploaded is not None and sandbox.end_reason is None:
            with contextlib.suppress(SandboxError):
                sandbox.files.remove(self._uploaded, recursive=True)

    # --- variables

    def library_variables(self, folders: Sequence[str]) -> dict[str, str]:
        """Return the variables by which programs find installed libraries.

        Args:
            folders: The libraries' folders, the most important first.
        """
        if self.is_python:
            return {"PYTHONPATH": ":".join(folders)} if folders else {}
        variables: dict[str, str] = {}
        for folder in folders:
            for name, path in self._handler.library_environment(folder).items():
                variables[name] = f"{variables[name]}:{path}" if name in variables else path
        return variables

    def environment(self, machine: Machine, libraries: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of everything that the session runs.

        Args:
            machine: The session's machine.
            libraries: The variables of `library_variables`.
        """
        given = self._config.program_environment()
        variables = {**machine.base_env(), **(KERNEL_ENVIRONMENT if self.is_python else {})}
        variables.update(given)
        for name, path in libraries.items():
            more = "" if self.is_python else variables.get(name, "")
            if path.startswith("/"):
                # Before the caller's own folders.
                variables[name] = f"{path}:{more}" if more else path
            else:
                variables[name] = more or path
        return variables

    # --- what an interpreter can do

    def check_argv(self, argv: Sequence[str], backend: str) -> None:
        """Refuse a command line for an interpreter that has none.

        Raises:
            UnsupportedError: There is an `argv`, and the language is not Python.
        """
        if argv and not self.is_python:
            raise UnsupportedError(
                "argv=",
                backend,
                f"the persistent interpreter of {self._handler.name} has no command line",
                hint="persistent=False runs each piece of code as a program of its own",
            )

    def check_variables(self, backend: str, *, has_kernel: bool) -> None:
        """Refuse the exchange of variables where there is no kernel of Python's.

        Raises:
            UnsupportedError: The language is another one, or every run is a program of its own.
        """
        if not self.is_python:
            raise UnsupportedError(
                "variables",
                backend,
                f"values are exchanged with Python only, not with {self._handler.name}",
                hint="print them, or write them to a file of the working directory",
            )
        if not has_kernel:
            raise UnsupportedError(
                "keeping variables",
                backend,
                "every run of this session is a program of its own",
                hint="sessions that keep variables need Python 3.11 or newer with ipykernel in the "
                "sandbox, and persistent=True",
            )

    def spec(
        self,
        machine: Machine,
        environment: Mapping[str, str],
        *,
        cold: bool,
        packages: str | None = None,
    ) -> KernelSpec:
        """Return the specification of the kernel to start in the machine."""
        if self.is_python:
            return KernelSpec(machine.base_env(), cold=cold, packages=packages)
        command = self._handler.interpreter(self.shim(machine))
        assert command is not None
        return KernelSpec(environment, cold=True, command=command)


# --- starting


def start_kernel(machine: Machine, spec: KernelSpec) -> KernelClient:
    """Start a kernel and connect to it.

    Raises:
        KernelNotReadyError: The machine's Python cannot run one.
        ContainerGoneError: The machine has ended.
    """
    return connect_kernel(machine, machine.start_kernel(spec))


def connect_kernel(machine: Machine, raw: RawKernel) -> KernelClient:
    """Connect to a running kernel."""

    def interrupt(number: int) -> None:
        # Whether it helps is seen by what the kernel does.
        with contextlib.suppress(SandboxError):
            machine.signal(raw.id, number)

    return KernelClient(raw, interrupt, machine.note_turn)


def await_start(client: KernelClient, deadline: Deadline, stop: Stop | None) -> Deadline:
    """Wait until a slow interpreter runs code.

    Returns:
        The deadline, later by the time waited, which is not the code's.

    Raises:
        KernelNotReadyError: The interpreter has ended instead; the message has its own words.
    """
    started = time.monotonic()
    collector = OutputBuffer(Limits(output_bytes=_ERROR_BYTES, displays=0))
    limit = Deadline.after(_START_S)
    run = client.execute("", collector, deadline=limit, silent=True, stop=stop)
    if run.end == "died" and not run.stopped:
        words = "".join(out.text for out in collector.finish() if isinstance(out, StreamOutput))
        raise KernelNotReadyError(f"the interpreter did not start: {words.strip()}")
    spent = time.monotonic() - started
    return deadline if deadline.at is None else Deadline(deadline.at + spent)


def wait_for_kernel(client: KernelClient) -> KernelClient:
    """Return a client once its interpreter runs code.

    Raises:
        KernelNotReadyError: As by `await_start`; the client is closed.
    """
    try:
        await_start(client, Deadline(), None)
    except BaseException:
        client.close()
        raise
    return client
