"""Runtime of an open session: its sandbox, its kernel session and its libraries."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from llm_sandbox.backends.base import Backend, MachineSpec
from llm_sandbox.const import SupportedLanguage
from llm_sandbox.exceptions import ToolchainNotFoundError
from llm_sandbox.kernel.background import Background
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.sandbox.network import machine_network
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.kernel_session import KernelSession

if TYPE_CHECKING:
    from llm_sandbox.packages.libraries import Libraries
    from llm_sandbox.session.detached import DetachOptions

__all__ = ["SessionRuntime"]

logger = logging.getLogger("llm_sandbox")

_FIND = 'for name; do command -v "$name" >/dev/null && echo "$name"; done; true'


@dataclass
class SessionRuntime:
    """Sandbox, kernel and libraries of an open session."""

    backend: Backend
    handler: AbstractLanguageHandler
    sandbox: Sandbox
    kernel: KernelSession
    background: Background
    """Receives what runs write after they have ended."""
    _libraries: "Libraries | None" = field(default=None, repr=False)

    @classmethod
    def start(
        cls,
        config: SessionConfig,
        backend: Backend,
        handler: AbstractLanguageHandler,
        background: Background,
        detach_options: "DetachOptions | None" = None,
    ) -> "SessionRuntime":
        """Create the sandbox and start its kernel, or attach to a detached session.

        Args:
            config: The session's settings.
            backend: Backend of the sandbox.
            handler: The language.
            background: Receiver of the output of ended runs.
            detach_options: Options of a detached session; None for a session of this process.

        Raises:
            ToolchainNotFoundError: The sandbox lacks the language's programs.
            KernelNotReadyError: The sandbox's Python cannot run a kernel, and the session keeps
                variables.
        """
        spec = MachineSpec(
            workdir=config.workdir,
            limits=config.limits,
            network=machine_network(config.network),
            mounts=config.mounts,
            for_kernel=config.start == "warm" and config.lang == SupportedLanguage.PYTHON,
        )
        kernel = KernelSession(backend, spec, config, handler, background, detach_options)
        machine = kernel.open()
        is_attached = detach_options is not None and detach_options.found is not None
        sandbox = None
        try:
            if config.session_timeout is not None and detach_options is None:
                machine.set_deadline(config.session_timeout)
            sandbox = Sandbox.from_machine(
                machine, config.env, config.secrets, network=config.network
            )
            runtime = cls(backend, handler, sandbox, kernel, background)
            if not is_attached:
                runtime._check_toolchain()
            kernel.attach(sandbox)
            if is_attached:
                runtime._restore_libraries()
        except BaseException:
            if is_attached:
                kernel.detach()
            else:
                kernel.close()
                if sandbox is not None:
                    sandbox.destroy()
            raise
        return runtime

    def _check_toolchain(self) -> None:
        """Refuse a sandbox with programs of its own that lacks those of the language."""
        needs = self.handler.toolchain
        if needs is None or self.backend.search_path:
            return  # nothing is needed, or the choice of the backend has checked
        found = self.sandbox.exec("sh", "-c", _FIND, "sh", *needs.programs).collect().stdout.split()
        missing = [name for name in needs.programs if name not in found]
        if missing:
            lang = self.handler.name
            raise ToolchainNotFoundError(
                lang,
                missing,
                "in the sandbox's PATH",
                backend=self.backend.name,
                hint=f"use an image that has it, such as ours: llm-sandbox images build {lang}; "
                f"on Debian: apt-get install {' '.join(needs.packages)}",
            )

    # --- libraries

    @property
    def libraries(self) -> "Libraries":
        """The session's libraries."""
        if self._libraries is None:
            from llm_sandbox.packages.libraries import Libraries

            self._libraries = Libraries(
                self.backend, self.handler, self.kernel.machine, self.sandbox.files
            )
        return self._libraries

    def _restore_libraries(self) -> None:
        """Take over the libraries that were installed before this process attached."""
        specs = self.kernel.notes.get("specs")
        if specs:
            self.libraries.restore(specs)
        self.sandbox.update_env(self.kernel.library_variables)

    def install(self, specs: Sequence[str]) -> None:
        """Install libraries; see `Libraries.add`."""
        layer = self.libraries.add(specs)
        if layer:
            self.kernel.add_libraries(layer)
            self.kernel.note(specs=self.libraries.specs)
            self.sandbox.update_env(self.kernel.library_variables)

    # --- end

    def commit(self) -> str | None:
        """Save the container as an image if the session's options request it; return its name."""
        options = getattr(self.backend, "options", None)
        if options is None or not options.commit_container:
            return None
        if self.sandbox.end_reason is not None:
            logger.warning(
                "the sandbox has ended before it could be saved: %s", self.sandbox.end_reason
            )
            return None
        name = options.commit_image_tag or f"llm-sandbox/committed:{self.sandbox.id}"
        folder = self._libraries.folder if self._libraries is not None else None
        return self.kernel.machine.snapshot(self.sandbox.files.archive(), name, folder).name

    def close(self) -> None:
        """End the kernel and the sandbox."""
        self.kernel.close()
        self.sandbox.destroy()

    def detach(self) -> None:
        """Disconnect from the kernel and the sandbox, which live on."""
        try:
            self.kernel.detach()
        finally:
            self.sandbox.detach()
