"""What the interpreter of a language is started with."""

import contextlib
import secrets
from collections.abc import Mapping, Sequence

from llm_sandbox.backends.base import KernelSpec, Machine
from llm_sandbox.const import SupportedLanguage
from llm_sandbox.exceptions import SandboxError, UnsupportedError
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.language_handlers.registry import BUILTIN
from llm_sandbox.sandbox.sandbox import Sandbox
from llm_sandbox.session.config import SessionConfig

__all__ = ["KERNEL_ENVIRONMENT", "KernelSetup"]

KERNEL_ENVIRONMENT = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    # Its own pool reserves a gigabyte, which a limit on memory counts as used.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Variables of Python's interpreter, under those of the caller."""

_PLACE = "/tmp"  # noqa: S108 - inside the sandbox


class KernelSetup:
    """How a session's language is run: by an interpreter that keeps state, or program by program.

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
        """Whether there is an interpreter to start."""
        self._brought: str | None = None
        self._visited: Sandbox | None = None

    @property
    def is_late(self) -> bool:
        """Whether the interpreter is started by the first run that needs it."""
        return self.has_kernel and self._handler.starts_late

    def shim(self, machine: Machine) -> str:
        """Path in the machine of what the language brings, which `bring` has put there if it is
        from elsewhere.
        """
        return self._brought or machine.language_folder(self._family)

    @property
    def _family(self) -> str:
        folder = self._handler.shim_folder
        return folder.parent.name if folder is not None else self._handler.name

    def bring(self, sandbox: Sandbox) -> None:
        """Put there what a language from another package runs by."""
        folder = self._handler.shim_folder
        if folder is None or self._handler.name in BUILTIN:
            return
        # In a container that somebody else made there may be other sessions of the language.
        self._brought = f"{_PLACE}/.llm-sandbox-{self._handler.name}-{secrets.token_hex(4)}"
        self._visited = sandbox
        sandbox.files.upload(folder, self._brought)

    @property
    def brought(self) -> str | None:
        """Path in the machine of what `bring` has put there; None for nothing."""
        return self._brought

    def find_brought(self, path: str | None, sandbox: Sandbox) -> None:
        """Take over what another process has put there."""
        self._brought = path
        self._visited = None if path is None else sandbox

    def take_away(self) -> None:
        """Remove what was brought: a container that somebody else made stays as it was."""
        sandbox, self._visited = self._visited, None
        if sandbox is not None and self._brought is not None and sandbox.end_reason is None:
            with contextlib.suppress(SandboxError):
                sandbox.files.remove(self._brought, recursive=True)

    def library_variables(self, folders: Sequence[str]) -> dict[str, str]:
        """The variables by which programs find installed libraries.

        Args:
            folders: Where those are, the most important first; none for none.
        """
        if self.is_python:
            return {"PYTHONPATH": ":".join(folders)} if folders else {}
        variables: dict[str, str] = {}
        for folder in folders:
            for name, path in self._handler.library_environment(folder).items():
                variables[name] = f"{variables[name]}:{path}" if name in variables else path
        return variables

    def check_argv(self, argv: Sequence[str], backend: str) -> None:
        """Refuse a command line for code that an interpreter runs which has none.

        Raises:
            UnsupportedError: There is one, and the language is not Python.
        """
        if argv and not self.is_python:
            raise UnsupportedError(
                "argv=",
                backend,
                f"an interpreter of {self._handler.name} that stays has no command line",
                hint="persistent=False runs each piece of code as a program of its own",
            )

    def environment(self, machine: Machine, libraries: Mapping[str, str]) -> dict[str, str]:
        """The variables of everything that the session runs.

        Args:
            machine: Where.
            libraries: What `library_variables` says.
        """
        given = self._config.program_environment()
        variables = {**machine.base_env(), **(KERNEL_ENVIRONMENT if self.is_python else {})}
        variables.update(given)
        for name, path in libraries.items():
            more = "" if self.is_python else variables.get(name, "")
            if path.startswith("/"):
                # Before what the caller names.
                variables[name] = f"{path}:{more}" if more else path
            else:
                variables[name] = more or path
        return variables

    def check_variables(self, backend: str, *, has_kernel: bool) -> None:
        """Refuse what only Python's kernel does.

        Raises:
            UnsupportedError: It is another language's, or every run is a program of its own.
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
        """What the machine is asked to start."""
        if self.is_python:
            return KernelSpec(machine.base_env(), cold=cold, packages=packages)
        command = self._handler.interpreter(self.shim(machine))
        assert command is not None
        return KernelSpec(environment, cold=True, command=command)
