"""Sandboxes for agent commands, with the workspace mounted."""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from llm_sandbox.adapters.sbx_agents.docker_args import DockerArguments
from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.options.unsafe_options import UNSAFE
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import (
    SandboxNotFoundError,
    SecurityError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.host.paths import user_folder
from llm_sandbox.limits import Limits
from llm_sandbox.mounts import Bind, Tmpfs
from llm_sandbox.network import Network
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.secrets import Secret

__all__ = ["AGENT_LIMITS", "HOME", "NAMESPACE", "ContainerRequest", "fingerprint"]

NAMESPACE: Final = "sbx-agents"
"""Namespace of the names of this adapter's sandboxes."""
HOME: Final = "/agent-home"
"""Home directory of programs, in memory, so that files of agents stay out of the workspace."""
AGENT_LIMITS: Final = Limits(
    memory_bytes=4 << 30,
    processes=1024,
    tmp_bytes=1 << 30,
    open_files=4096,
    file_size_bytes=4 << 30,
    output_bytes=64 << 20,
)
"""Limits for the tools of an agent, which need more than a snippet of code."""
_HOME_BYTES: Final = 256 << 20
_AGENT, _WORKSPACE = "sbx.agent", "sbx.workspace"
_SETTINGS, _KEYS = "sbx.settings", "sbx.keys"


@dataclass(frozen=True)
class ContainerRequest:
    """Description of the sandbox to create or find for an agent."""

    workspace: Path
    workdir: str
    """Path of the workspace in the sandbox."""
    agent: str
    """Kind of agent, such as ``codex``."""
    backend: str = "docker"
    image: str | None = None
    name: str | None = None
    limits: Limits = AGENT_LIMITS
    network: Network = "blocked"
    arguments: DockerArguments = field(default_factory=DockerArguments)
    allow_dangerous: bool = False
    is_ours: bool = False
    """Ownership of a workspace that this adapter created."""
    secrets: Sequence[Secret] = ()
    keep: bool = False
    """Survival of the sandbox after this process."""
    idle_timeout: float | None = None

    def check(self) -> None:
        """Check the request before anything is created.

        Raises:
            SecurityError: An argument would weaken the container's isolation.
            UnsupportedError: The backend does not support the sandbox, or images.
            ValidationError: An option is invalid.
        """
        self._backend()

    def make(self) -> Sandbox:
        """Create the sandbox.

        Raises:
            NameInUseError: A living sandbox uses the name.
            SandboxError: As for `check`; or the creation failed.
        """
        is_kept = self.keep or self.name is not None
        tags = {**self._tags(), _SETTINGS: self._digest(), _KEYS: self._keys()}
        place = Bind(
            self.workspace, read_only=False, dangerous=self.allow_dangerous or self.is_ours
        )
        try:
            return Sandbox.create(
                backend=self._backend(),
                workdir=self.workdir,
                env={"HOME": HOME},
                secrets=list(self.secrets),
                limits=self.limits,
                network=self._network(),
                mounts={self.workdir: place, HOME: Tmpfs(_HOME_BYTES)},
                name=self.name,
                namespace=NAMESPACE if is_kept else "default",
                tags=tags if is_kept else None,
                idle_timeout=self.idle_timeout if is_kept else None,
                on_exit="keep" if self.keep else "destroy",
            )
        except SecurityError as error:
            raise _refusal(error) from None

    def find(self) -> Sandbox | None:
        """Return the living sandbox with this name and kind of agent, or without a name the newest
        of this kind and workspace; None for none. A sandbox whose secrets had other values is
        ended.

        Raises:
            ValidationError: The existing sandbox has other settings or another purpose.
        """
        if self.name is None:
            found = Sandbox.list(self._tags(), NAMESPACE)
            for other in found[1:]:
                other.detach()
            sandbox = found[0] if found else None
        else:
            try:
                sandbox = Sandbox.from_name(self.name, NAMESPACE)
            except SandboxNotFoundError:
                return None
        if sandbox is not None:
            self._compare(sandbox)
            if sandbox.tags.get(_KEYS) != self._keys():
                sandbox.destroy()
                return None
            if self._network() != "open":
                sandbox.set_network(self._network())
        return sandbox

    def remove(self) -> None:
        """End the matching living sandboxes, whatever their settings."""
        found = Sandbox.list(self._tags(), NAMESPACE)
        if self.name is not None:
            with contextlib.suppress(SandboxNotFoundError):
                found.append(Sandbox.from_name(self.name, NAMESPACE))
        for sandbox in found:
            sandbox.destroy()

    def _compare(self, sandbox: Sandbox) -> None:
        for tag, value, what in (
            (_AGENT, self.agent, "agent"),
            (_WORKSPACE, str(self.workspace), "workspace"),
            (_SETTINGS, self._digest(), None),
        ):
            if sandbox.tags.get(tag) == value:
                continue
            reference = self.name or sandbox.id
            sandbox.detach()
            why = f"for another {what}" if what else "with other settings"
            raise ValidationError(
                f"the sandbox {reference!r} was made {why}",
                parameter="name",
                hint=f"force_recreate=True, another name, or: llm-sandbox stop {sandbox.id}",
            )

    def _tags(self) -> dict[str, str]:
        return {_AGENT: self.agent, _WORKSPACE: str(self.workspace)}

    def _digest(self) -> str:
        """Return a digest of the settings, from which no value can be recovered."""
        plain = [
            *(self.workdir, self.backend, self.image, self.allow_dangerous),
            *(repr(self.limits), sorted(self.arguments.runtime_configs.items())),
            *(self.arguments.mounts, self._network() == "open"),
            [(one.name, one.delivery, one.hosts) for one in self.secrets],
        ]
        return hashlib.sha256(json.dumps(plain, default=str).encode()).hexdigest()[:16]

    def _keys(self) -> str:
        return fingerprint([one.reveal() for one in self.secrets])

    def _network(self) -> Network:
        return (
            "blocked" if self.arguments.runtime_configs.get("network") == "none" else self.network
        )

    def _backend(self) -> Backend:
        configs = dict(self.arguments.runtime_configs)
        if configs.get("network") == "none":
            del configs["network"]
        registered = get_backend(self.backend)
        if not registered.has_containers:
            if self.image is not None:
                raise UnsupportedError(
                    "image=",
                    self.backend,
                    "its programs are those of this machine",
                    hint="leave out image=, or backend='docker' or 'podman'",
                )
            return registered
        try:
            options = ContainerOptions(
                image=self.image,
                runtime_configs=configs,
                mounts=tuple(self.arguments.mounts),
                allow_unsafe=UNSAFE if self.allow_dangerous else (),
            )
        except SecurityError as error:
            raise _refusal(error) from None
        return registered.with_options(options)


def _refusal(error: SecurityError) -> SecurityError:
    """Return the error with a hint about the option that accepts the risk, where there is one."""
    hint = error.hint
    if error.context.get("parameter") is not None:
        hint = "to take that risk: allow_dangerous=True"
    return SecurityError(error.message, op="prepare", hint=hint, context=error.context)


_LENGTH = 32


def fingerprint(values: Sequence[str]) -> str:
    """Return a keyed digest that changes with any of the values; empty for none.

    The key is a random number that only this user can read, so that the digest does not allow
    guessing values.

    Args:
        values: Values in a significant order.
    """
    if not values:
        return ""
    digest = hmac.new(_key(), digestmod=hashlib.sha256)
    for value in values:
        data = value.encode("utf-8", "surrogateescape")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


def _key() -> bytes:
    path = user_folder("XDG_STATE_HOME", ".local/state") / "sbx-agents" / "key"
    if not path.exists():
        _make(path)
    return path.read_bytes()


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".key-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_LENGTH))
        # It appears whole, and the first one stays: others may be at it.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        Path(draft).unlink()
