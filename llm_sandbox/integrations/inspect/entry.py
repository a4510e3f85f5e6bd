"""Entry point of inspect_ai, whose import registers the provider."""

from llm_sandbox.integrations.inspect.provider import InspectSandbox

__all__ = ["InspectSandbox"]
