"""smolagents: `CodeAgent(executor=SandboxExecutor())` runs what the agent writes in a sandbox.

Needs the extra ``smolagents``; importing this without it says what to type.
"""

from llm_sandbox.integrations.extras import require

require("smolagents", "smolagents")

from llm_sandbox.integrations.smolagents.executor import SandboxExecutor  # noqa: E402 - see above

__all__ = ["SandboxExecutor"]
