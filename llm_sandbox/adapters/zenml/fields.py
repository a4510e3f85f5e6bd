"""Settings fields of sandboxes, as mixins for settings classes."""

from typing import Literal

from pydantic import BaseModel, Field

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import Limits
from llm_sandbox.network import NetworkRules

__all__ = ["ContainerFields", "IsolatedFields", "LocalFields"]

_FORWARDED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TERM")
_DAY_S = 86_400.0


class LocalFields(BaseModel):
    """Settings of sandboxes that are plain processes."""

    forward_env: bool | list[str] = Field(
        default_factory=lambda: list(_FORWARDED),
        description="Which of this process' environment variables a session has: True for all, "
        "False for none, or names.",
    )


class IsolatedFields(BaseModel):
    """Settings of sandboxes that are isolated."""

    workdir: str = Field(
        default="/workspace", description="Working directory in the sandbox, absolute."
    )
    cpu_limit: float | None = Field(
        default=None, description="CPUs that may be busy at once; None for no limit."
    )
    memory_limit: str | None = Field(
        default=None, description="Memory of all processes together, such as '2g'; None for 1g."
    )
    network: Literal["open", "internet", "allowed", "blocked"] = Field(
        default="open",
        description="'open' for the network of the host or the engine, 'internet' for what is "
        "public, 'allowed' for 'allowed_domains' and 'allowed_cidrs', 'blocked' for none.",
    )
    allowed_domains: list[str] = Field(
        default_factory=list, description="Names that network='allowed' lets through."
    )
    allowed_cidrs: list[str] = Field(
        default_factory=list, description="Addresses that network='allowed' lets through."
    )
    timeout: float | None = Field(
        default=_DAY_S,
        description="Seconds after which a sandbox ends by itself, one that was closed and not "
        "destroyed included; None for never.",
    )
    idle_timeout: float | None = Field(
        default=None, description="Seconds of inactivity after which it does; None for never."
    )

    def get_network(self) -> str | NetworkRules:
        """Return the network as `Sandbox.create` takes it.

        Raises:
            ValidationError: Allowed names or addresses are given for another kind of network.
        """
        if self.network == "allowed":
            return NetworkRules.allow(domains=self.allowed_domains, cidrs=self.allowed_cidrs)
        if self.allowed_domains or self.allowed_cidrs:
            raise ValidationError(
                f"allowed_domains and allowed_cidrs say nothing with network={self.network!r}",
                parameter="network",
                hint="network='allowed' has them, and nothing else, let through",
            )
        return self.network

    def get_limits(self) -> Limits:
        """Return the limits of the sandbox."""
        if self.memory_limit is None:
            return Limits(cpus=self.cpu_limit)
        size = Limits.parse_size(self.memory_limit, "memory_limit")
        return Limits(cpus=self.cpu_limit, memory_bytes=size)


class ContainerFields(IsolatedFields):
    """Settings of sandboxes that are containers."""

    image: str | None = Field(
        default=None, description="Container image; None for that of Python sessions."
    )
