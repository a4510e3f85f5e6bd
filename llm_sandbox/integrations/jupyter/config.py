"""Sandbox settings of a kernelspec."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.create import create_session
from llm_sandbox.exceptions import LibraryInstallationNotSupportedError
from llm_sandbox.limits import Limits
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from llm_sandbox.security import SecurityPolicy

__all__ = ["NotebookConfig"]


@dataclass(frozen=True)
class NotebookConfig:
    """Settings of the sandboxes of one kernelspec."""

    lang: str = "python"
    """Language of the cells."""
    backend: str | None = None
    """Backend; None for the first that works."""
    image: str | None = None
    """Image of a container backend; None for that of the language."""
    libraries: Sequence[str] = ()
    """Libraries to install at each start."""
    network: str = "blocked"
    """``blocked``, ``internet`` or ``open``."""
    memory: str | None = None
    """Memory limit, such as ``2g``; None for the default of `Limits`."""
    policy: str | None = None
    """Security policy, as a preset or a file; None for none."""

    def make_session(self, env: Mapping[str, str]) -> BaseSession:
        """Return a session that is not open yet.

        Args:
            env: Environment variables of the code.

        Raises:
            SandboxError: A setting is invalid, or the session cannot be created.
        """
        return create_session(**self._arguments(env))

    def check(self, env: Mapping[str, str]) -> None:
        """Check the settings, without starting anything.

        Raises:
            SandboxError: A setting is invalid, or the session cannot be created.
        """
        session = ArtifactSandboxSession(**self._arguments(env))
        handler = session.language_handler
        if self.libraries and not handler.is_support_library_installation:
            raise LibraryInstallationNotSupportedError(handler.name)
        for library in self.libraries:
            handler.validate_library(library)

    def _arguments(self, env: Mapping[str, str]) -> dict[str, Any]:
        limits = Limits() if self.memory is None else Limits(memory=self.memory)
        return {
            "backend": self.backend,
            "image": self.image,
            "lang": self.lang,
            "libraries": list(self.libraries),
            "network": self.network,
            "limits": limits,
            "security_policy": self._policy(),
            "env": dict(env),
        }

    def _policy(self) -> "SecurityPolicy | None":
        if self.policy is None:
            return None
        # Loads pydantic, which nothing else here needs.
        from llm_sandbox.security.policy_file import find_policy

        return find_policy(self.policy)
