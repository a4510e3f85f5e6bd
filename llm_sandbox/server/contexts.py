"""Contexts: interpreters of one sandbox, each a session of its own."""

import contextlib
import secrets
import threading
from typing import Any, cast

from llm_sandbox.backends.base import Backend, KernelSpec, Machine, MachineSpec, RawKernel
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.sandbox.parts import machine_of, network_of
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession

__all__ = ["Context", "open_context"]


class Context:
    """Interpreter in a sandbox.

    Args:
        session: Its session, which is open.
        cwd: Working directory that it was asked for.
    """

    def __init__(self, session: BaseSession, cwd: str) -> None:
        self.id = secrets.token_hex(16)
        self.session = session
        self.cwd = cwd
        self.lock = threading.Lock()
        """Held by the run that is under way: it is interrupted with its own client only."""
        self.runs = 0
        """Number of runs so far."""

    @property
    def language(self) -> str:
        """Its language."""
        return str(self.session.config.lang)


def open_context(sandbox: Sandbox, backend: Backend, config: SessionConfig) -> BaseSession:
    """Open a session in a sandbox that exists, beside others; its end leaves the sandbox alone.

    Args:
        sandbox: The sandbox.
        backend: Its backend.
        config: Settings of the session; mounts and network are the sandbox's own.

    Raises:
        ToolchainNotFoundError: The sandbox lacks the language's programs.
        LanguageNotSupportedError: There is no such language.
    """
    handler = LanguageHandlerFactory.create_handler(config.lang)
    lent = cast(Machine, _LentMachine(sandbox))
    session = BaseSession(
        config, cast(Backend, _LendingBackend(backend, lent)), "a context of a sandbox", handler
    )
    session.open()
    return session


class _LentMachine:
    """Machine of a sandbox as one session sees it, whose end ends that session's kernels only.

    Everything else is the machine's own, whatever its backend, optional calls included.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._machine: Machine = machine_of(sandbox)
        self.network = network_of(sandbox)
        self._kernels: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        """Start a kernel, to be ended by `destroy`."""
        raw = self._machine.start_kernel(spec)
        self._kernels.append(raw.id)
        return raw

    def destroy(self) -> None:
        """End the kernels that were started through this object."""
        while self._kernels:
            with contextlib.suppress(SandboxError):
                self._machine.kill(self._kernels.pop())


class _LendingBackend:
    """Backend that creates nothing, and lends one machine."""

    pooled = False

    def __init__(self, backend: Backend, machine: Machine) -> None:
        self._backend = backend
        self._machine = machine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def create(self, spec: MachineSpec) -> Machine:
        """Return the machine, whatever the specification says: it is the sandbox's."""
        del spec
        return self._machine
