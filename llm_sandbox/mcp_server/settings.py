"""Settings of the server's sandboxes, from environment variables."""

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from llm_sandbox.aio import AsyncSession, create_session
from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.limits import Limits

__all__ = ["ServerSettings"]

_YES = frozenset({"true", "1", "yes", "on"})
_NO = frozenset({"false", "0", "no", "off"})
_OUTPUT_BYTES = 1 << 18
"""Maximum bytes of a stream for the model; the result says when there was more."""


@dataclass(frozen=True)
class ServerSettings:
    """Settings of the server's sandboxes."""

    backend: str | None = None
    """Backend; None for the strongest that works."""
    commit_container: bool = False
    """Whether each container is saved as an image at the end of its call."""
    runtime_configs: Mapping[str, Any] = field(default_factory=dict)
    """Engine options by docker-py's names."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Read ``BACKEND``, ``COMMIT_CONTAINER``, ``KEEP_TEMPLATE`` and ``SANDBOX_*``.

        Raises:
            ValidationError: A value is invalid.
            UnsupportedError: A setting is not supported.
        """
        given = {name: text.strip() for name, text in environment.items() if text.strip()}
        if not _flag(given, "KEEP_TEMPLATE", default=True):
            raise UnsupportedError(
                "KEEP_TEMPLATE=false",
                reason="images that were pulled are always kept",
                hint="leave it out, and remove them with the engine: docker image prune",
            )
        configs: dict[str, Any] = {}
        memory = given.get("SANDBOX_MEM_LIMIT") or given.get("SANDBOX_MEMORY")
        if memory is not None:
            configs["mem_limit"] = memory
        for name in ("SANDBOX_CPUS", "SANDBOX_CPU_COUNT"):
            if name in given:
                configs["nano_cpus"] = round(_number(name, given[name]) * 1e9)
        if "SANDBOX_NETWORK_MODE" in given:
            configs["network_mode"] = given["SANDBOX_NETWORK_MODE"]
        for option in ("read_only", "privileged"):
            variable = f"SANDBOX_{option.upper()}"
            if variable in given:
                configs[option] = _flag(given, variable)
        for option in ("cap_drop", "security_opt"):
            text = given.get(f"SANDBOX_{option.upper()}", "")
            words = [word.strip() for word in text.split(",") if word.strip()]
            if words:
                configs[option] = words
        return cls(given.get("BACKEND"), _flag(given, "COMMIT_CONTAINER"), configs)

    def check(self) -> None:
        """Check the settings, without starting anything.

        Raises:
            SandboxError: Such sandboxes cannot be created.
        """
        ArtifactSandboxSession(**self._arguments("python"))

    def make_session(self, language: str) -> AsyncSession:
        """Return a new session that is not open yet.

        Raises:
            SandboxError: The session cannot be created.
        """
        return create_session(**self._arguments(language))

    def _arguments(self, language: str) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "backend": self.backend,
            "lang": language,
            "runtime_configs": self.runtime_configs,
            "limits": Limits(output_bytes=_OUTPUT_BYTES),
        }
        if self.commit_container:
            arguments["commit_container"] = True
            arguments["commit_image_tag"] = f"llm-sandbox-mcp/{language}:{uuid.uuid4().hex[:12]}"
        return arguments


def _flag(given: Mapping[str, str], name: str, *, default: bool = False) -> bool:
    text = given.get(name)
    if text is None:
        return default
    if text.lower() not in _YES | _NO:
        known = ", ".join(sorted(_YES | _NO))
        raise ValidationError(
            f"invalid {name}: expected one of {known}, got {text!r}", parameter=name
        )
    return text.lower() in _YES


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ValidationError(
            f"invalid {name}: expected CPUs above 0, got {text!r}", parameter=name
        )
    return number
