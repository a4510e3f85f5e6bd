"""Server of the Model Context Protocol, which offers sandboxes as tools.

Needs the extra ``mcp``; importing this without it says what to type.
From the command line: ``llm-sandbox mcp``.
"""

from llm_sandbox.integrations.extras import require

require("mcp", "mcp")

from llm_sandbox.integrations.mcp.options import ServerOptions  # noqa: E402 - see above
from llm_sandbox.integrations.mcp.server import make_server  # noqa: E402

__all__ = ["ServerOptions", "make_server"]
