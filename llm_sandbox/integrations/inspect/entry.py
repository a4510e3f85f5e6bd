"""What inspect's entry point names: to import it is to register the provider."""

from llm_sandbox.integrations.inspect.provider import InspectSandbox

__all__ = ["InspectSandbox"]
