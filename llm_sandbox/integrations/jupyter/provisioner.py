"""Kernel provisioner for jupyter_client, with kernels in sandboxes."""

import asyncio
import contextlib
import signal
from pathlib import Path
from typing import Any

import traitlets
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.integrations.jupyter.bridge import Bridge
from llm_sandbox.integrations.jupyter.config import NotebookConfig
from llm_sandbox.jupyter.languages import notebook_language
from llm_sandbox.jupyter.replies import (
    KernelReplies,
    NotebookReplies,
    RunnerReplies,
)
from llm_sandbox.session.session import BaseSession

__all__ = ["SandboxProvisioner"]


class SandboxProvisioner(KernelProvisionerBase):  # type: ignore[misc]
    """Provisioner with one sandbox for each notebook; a restart renews the interpreter and keeps
    files.

    The kernelspec's command line is not run: the kernel is that of the session. Only environment
    variables that the kernelspec names are passed on.
    """

    lang = traitlets.Unicode("python", help="language of the cells").tag(config=True)
    backend = traitlets.Unicode(None, allow_none=True, help="where the sandbox is made").tag(
        config=True
    )
    image = traitlets.Unicode(None, allow_none=True, help="image of a container backend").tag(
        config=True
    )
    libraries = traitlets.List(traitlets.Unicode(), help="installed at the start").tag(config=True)
    network = traitlets.Unicode("blocked", help="blocked, internet or open").tag(config=True)
    memory = traitlets.Unicode(None, allow_none=True, help="such as 2g").tag(config=True)
    policy = traitlets.Unicode(None, allow_none=True, help="a preset, or a file").tag(config=True)
    files = traitlets.List(
        traitlets.Unicode(),
        help="patterns of files beside the notebook that are copied into the working directory",
    ).tag(config=True)

    _session: BaseSession | None = None
    _version: str | None = None
    _bridge: Bridge | None = None

    @property
    def has_process(self) -> bool:
        """Whether a kernel exists, or its end has not been polled yet."""
        return self._bridge is not None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Choose ports, and write the connection file."""
        manager = self.parent
        if manager is not None:
            manager.write_connection_file()
            self.connection_info = manager.get_connection_info()
        settled: dict[str, Any] = await super().pre_launch(cmd=[], **kwargs)
        return settled

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Create the sandbox, or start a fresh kernel in the existing one."""
        del cmd
        variables = dict(getattr(self.kernel_spec, "env", None) or {})
        await asyncio.to_thread(self._launch, variables, kwargs.get("cwd"))
        return self.connection_info

    def _launch(self, variables: dict[str, str], cwd: str | None) -> None:
        if self._session is None:
            session = self._make_session(variables)
            session.open()
            try:
                self._copy_files(session, cwd)
            except BaseException:
                session.close()
                raise
            self._session = session
        else:
            session = self._session
            session.restart()
        replies = self._make_replies(session, Path(cwd) if cwd else Path.cwd())
        lent = session.lend_kernel()
        self._bridge = Bridge(self.connection_info, lent.raw, lent.signal, self._refusal, replies)

    def _make_replies(self, session: BaseSession, folder: Path) -> KernelReplies:
        language = notebook_language(self.lang)
        if language.is_python:
            return NotebookReplies(folder)
        if self._version is None:
            self._version = language.find_version(session.sandbox)
        return RunnerReplies(language, self._version)

    def _make_session(self, variables: dict[str, str]) -> BaseSession:
        config = NotebookConfig(
            lang=notebook_language(self.lang).lang,
            backend=self.backend,
            image=self.image,
            libraries=list(self.libraries),
            network=self.network,
            memory=self.memory,
            policy=self.policy,
        )
        return config.make_session(variables)

    def _copy_files(self, session: BaseSession, cwd: str | None) -> None:
        folder = Path(cwd) if cwd else Path.cwd()
        for pattern in self.files:
            for path in sorted(folder.glob(pattern)):
                session.copy_to_runtime(path, str(path.relative_to(folder)))

    def _refusal(self, code: str) -> str | None:
        session = self._session
        if session is None or session.config.security_policy is None:
            return None
        report = session.scan(code)
        return None if report.is_safe else report.message_for_model()

    async def poll(self) -> int | None:
        """Return None while the kernel runs, otherwise its exit code."""
        return 0 if self._bridge is None else self._bridge.exit_code

    async def wait(self) -> int | None:
        """Wait for the kernel to end, and release it."""
        bridge = self._bridge
        if bridge is None:
            return 0
        await asyncio.to_thread(bridge.wait)
        self._bridge = None
        return bridge.exit_code

    async def send_signal(self, signum: int) -> None:
        """Interrupt the code, or end the kernel."""
        if self._bridge is None:
            return
        if signum == signal.SIGINT:
            self._bridge.interrupt()
        elif signum != 0:
            await self.kill()

    async def kill(self, restart: bool = False) -> None:
        """End the kernel."""
        del restart
        if self._bridge is not None:
            await asyncio.to_thread(self._bridge.stop)

    async def terminate(self, restart: bool = False) -> None:
        """End the kernel."""
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        """End the sandbox, unless the kernel is being restarted."""
        await self.kill()
        session = self._session
        if session is None or restart:
            return
        self._session = None
        with contextlib.suppress(SandboxError):
            await asyncio.to_thread(session.close)
