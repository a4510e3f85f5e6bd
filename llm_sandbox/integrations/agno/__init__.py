"""Agno: a session as a toolkit of an agent, and sandboxes as the computers of whole agents.

`Agent(tools=[SandboxTools(session)])` gives an agent a session, whose figures it sees.
`IsolatedSandbox` is a provider of `agno.sandbox`. Both need the extra ``agno``; importing this
without it says what to type.
"""

from llm_sandbox.integrations.extras import require

require("agno.tools", "agno")

from llm_sandbox.integrations.agno.sandbox import IsolatedSandbox  # noqa: E402 - see above
from llm_sandbox.integrations.agno.tools import SandboxTools  # noqa: E402

__all__ = ["IsolatedSandbox", "SandboxTools"]
