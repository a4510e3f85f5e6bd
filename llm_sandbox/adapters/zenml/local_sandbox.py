"""Local sandboxes: plain processes without isolation, for trusted code and tests."""

import logging
import os
import shutil
import subprocess
import tempfile
import uuid
import weakref
from pathlib import Path
from typing import ClassVar, cast

from llm_sandbox.adapters.zenml.base import (
    BaseSandbox,
    BaseSandboxConfig,
    BaseSandboxFlavor,
    BaseSandboxSettings,
)
from llm_sandbox.adapters.zenml.child import Child
from llm_sandbox.adapters.zenml.component import MachineComponent
from llm_sandbox.adapters.zenml.fields import LocalFields
from llm_sandbox.adapters.zenml.machine import MachineProcess, MachineSession
from llm_sandbox.adapters.zenml.session import SandboxSession
from llm_sandbox.adapters.zenml.snapshot import SandboxSnapshot
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.exceptions import PathError
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import Process, Sandbox

__all__ = [
    "LOCAL_SANDBOX_FLAVOR",
    "LocalComponent",
    "LocalSandbox",
    "LocalSandboxConfig",
    "LocalSandboxFlavor",
    "LocalSandboxProcess",
    "LocalSandboxSession",
    "LocalSandboxSettings",
]

logger = logging.getLogger(__name__)

LOCAL_SANDBOX_FLAVOR = "local"

_UNLIMITED = 1 << 50
_LIMITS = Limits(memory_bytes=_UNLIMITED, file_size_bytes=_UNLIMITED)


class LocalSandboxSettings(BaseSandboxSettings, LocalFields):
    """Settings of sandboxes that are plain processes."""


class LocalSandboxConfig(BaseSandboxConfig, LocalSandboxSettings):
    """Configuration of a component whose sandboxes are plain processes."""


class LocalSandboxProcess(MachineProcess):
    """Command of a `LocalSandboxSession`.

    Args:
        process: Program of a `Sandbox`, or child process with text streams.
        session: Session of the command.
        started_at: Start time, in seconds of `time.time`.
    """

    def __init__(
        self,
        process: "Process | subprocess.Popen[str] | Child",
        session: SandboxSession,
        started_at: float,
    ) -> None:
        child = Child(process) if isinstance(process, subprocess.Popen) else process
        super().__init__(child, session, started_at)


class LocalSandboxSession(MachineSession):
    """Session whose commands are plain processes, which end with it, as does its working directory.

    Args:
        workdir: Absolute path of the existing working directory, deleted at the end.
        env: Environment variables.
        parent: Component that created the session.
        destroy_on_exit: No effect: closing the session ends it.
        secrets: Further variables, whose values are redacted in logs.
        saved: Snapshot with the initial files of the working directory; None for none.
    """

    process_class: ClassVar[type[MachineProcess]] = LocalSandboxProcess
    snapshot_kind = "directory"

    def __init__(
        self,
        workdir: str,
        env: dict[str, str],
        *,
        parent: BaseSandbox,
        destroy_on_exit: bool = False,
        secrets: dict[str, str] | None = None,
        saved: Snapshot | None = None,
    ) -> None:
        self._workdir = workdir
        # The processes end with this one whether it was closed or not, and so does the directory.
        self._removal = weakref.finalize(self, shutil.rmtree, workdir, ignore_errors=True)
        # Where no path is given none comes from this process' environment.
        env = {"PATH": os.defpath, **env}
        sandbox = Sandbox.create(
            backend="local",
            image=saved,
            workdir=workdir,
            env=env,
            secrets=secrets,
            limits=_LIMITS,
            network="open",
        )
        try:
            super().__init__(
                sandbox,
                parent=parent,
                id=f"local-{uuid.uuid4().hex[:12]}",
                secrets=secrets,
                destroy_on_exit=destroy_on_exit,
            )
        except BaseException:
            sandbox.destroy()
            raise

    def _upload_file(self, local_path: str, remote_path: str) -> None:
        super()._upload_file(local_path, self._inside(remote_path))

    def _download_file(self, remote_path: str, local_path: str) -> None:
        super()._download_file(self._inside(remote_path), local_path)

    def _inside(self, path: str) -> str:
        """Return the resolved path, if it is in the working directory."""
        root = Path(self._workdir).resolve()
        found = (root / path).resolve()
        if not found.is_relative_to(root):
            raise PathError(
                f"{path!r} is not in the session's working directory",
                path=path,
                hint=f"give a path relative to it, or one in {root}",
            )
        return str(found)

    def _close(self) -> None:
        try:
            self._sandbox.destroy()
        finally:
            self._removal()

    def _destroy(self) -> None:
        if not self._closed:
            self._sandbox.destroy()


class LocalComponent(MachineComponent):
    """Behaviour of a component for local sandboxes, as a mixin."""

    session_class: ClassVar[type[LocalSandboxSession]] = LocalSandboxSession
    """Class of the sessions."""

    def create_session(
        self, settings: BaseSandboxSettings | None = None, destroy_on_exit: bool = False
    ) -> LocalSandboxSession:
        """Create an empty working directory, and a session in it; see `BaseSandbox.create_session`.

        Args:
            settings: Settings that override those of the component and the step.
            destroy_on_exit: No effect: closing the session ends it.
        """
        return self._make(self.resolve_settings(settings), destroy_on_exit, None)

    def restore(self, snapshot: SandboxSnapshot) -> LocalSandboxSession:
        """Create a session whose working directory has the files of a snapshot.

        Args:
            snapshot: Snapshot of a session of this component.

        Raises:
            ValidationError: The snapshot belongs to another component.
        """
        saved, _ = self._read_snapshot(snapshot)
        return self._make(self.resolve_settings(), False, saved)

    def _make(
        self, settings: BaseSandboxSettings, destroy_on_exit: bool, saved: Snapshot | None
    ) -> LocalSandboxSession:
        logger.warning(
            "a local sandbox does not isolate: its commands run with your rights, on your files "
            "and your network"
        )
        plain, secrets = self._split_environment(settings)
        workdir = tempfile.mkdtemp(prefix="llm-sandbox-zenml-")
        try:
            return self.session_class(
                workdir,
                plain,
                parent=self,
                destroy_on_exit=destroy_on_exit,
                secrets=secrets,
                saved=saved,
            )
        except BaseException:
            shutil.rmtree(workdir, ignore_errors=True)
            raise

    def _split_environment(
        self, settings: BaseSandboxSettings
    ) -> tuple[dict[str, str], dict[str, str]]:
        plain, secrets = super()._split_environment(settings)
        return _forwarded(cast(LocalFields, settings).forward_env) | plain, secrets


class LocalSandbox(LocalComponent, BaseSandbox):
    """Component for plain processes without isolation, for trusted code."""

    @property
    def config(self) -> LocalSandboxConfig:
        """Configuration of the component."""
        return cast(LocalSandboxConfig, self._config)

    @property
    def settings_class(self) -> type[LocalSandboxSettings]:
        """Class `LocalSandboxSettings`."""
        return LocalSandboxSettings


class LocalSandboxFlavor(BaseSandboxFlavor):
    """Flavor of `LocalSandbox`."""

    @property
    def name(self) -> str:
        """Name of the flavor, `LOCAL_SANDBOX_FLAVOR`."""
        return LOCAL_SANDBOX_FLAVOR

    @property
    def config_class(self) -> type[LocalSandboxConfig]:
        """Class `LocalSandboxConfig`."""
        return LocalSandboxConfig

    @property
    def implementation_class(self) -> type[LocalSandbox]:
        """Class `LocalSandbox`."""
        return LocalSandbox


def _forwarded(names: bool | list[str]) -> dict[str, str]:
    """Return the variables of this process that are forwarded to a session."""
    if isinstance(names, bool):
        return dict(os.environ) if names else {}
    return {name: os.environ[name] for name in names if name in os.environ}
