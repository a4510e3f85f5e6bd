"""Which credentials coding agents need, and where those may go."""

from dataclasses import dataclass

from llm_sandbox.exceptions import ValidationError

__all__ = ["SERVICES", "Service", "service_named", "service_of"]


@dataclass(frozen=True)
class Service:
    """A service that asks who is there."""

    name: str
    variable: str
    """The variable that its clients read their key from."""
    hosts: tuple[str, ...]
    """Where the key may go."""


SERVICES = {
    service.name: service
    for service in (
        Service("anthropic", "ANTHROPIC_API_KEY", ("api.anthropic.com",)),
        Service("cursor", "CURSOR_API_KEY", ("api2.cursor.sh",)),
        Service("droid", "FACTORY_API_KEY", ("api.factory.ai",)),
        Service("github", "GITHUB_TOKEN", ("api.github.com", "github.com")),
        Service("google", "GEMINI_API_KEY", ("generativelanguage.googleapis.com",)),
        Service("groq", "GROQ_API_KEY", ("api.groq.com",)),
        Service("mistral", "MISTRAL_API_KEY", ("api.mistral.ai",)),
        Service("nebius", "NEBIUS_API_KEY", ("api.studio.nebius.com",)),
        Service("openai", "OPENAI_API_KEY", ("api.openai.com",)),
        Service("xai", "XAI_API_KEY", ("api.x.ai",)),
    )
}
"""By name, as Docker's ``sbx`` calls them."""

_OF_AGENTS = {"claude": "anthropic", "codex": "openai", "opencode": "anthropic"}


def service_of(agent_id: str) -> Service | None:
    """The service that an agent's model is at; None for an agent without one."""
    name = _OF_AGENTS.get(agent_id)
    return None if name is None else SERVICES[name]


def service_named(name: str, parameter: str = "service") -> Service:
    """Return a service by its name.

    Raises:
        ValidationError: It is not known where its key would go.
    """
    found = SERVICES.get(name)
    if found is None:
        raise ValidationError(
            f"there is no service {name!r}; known: {', '.join(SERVICES)}",
            parameter=parameter,
            hint="give others by name and host: secrets=[llm_sandbox.Secret(...)]",
        )
    return found
