"""smolagents: `CodeAgent(executor=SandboxExecutor())` runs what the agent writes in a sandbox.

Needs ``pip install 'llm-sandbox[smolagents]'``; importing this without it says so.
"""

from llm_sandbox.integrations.extras import require

require("smolagents", "smolagents")

from llm_sandbox.integrations.smolagents.executor import SandboxExecutor  # noqa: E402 - see above

__all__ = ["SandboxExecutor"]
