"""A server of the Model Context Protocol: any client gets sandboxes as tools.

Needs ``pip install 'llm-sandbox[mcp]'``. From the command line: ``llm-sandbox mcp``.
"""

from llm_sandbox.integrations.mcp.options import ServerOptions
from llm_sandbox.integrations.mcp.server import make_server

__all__ = ["ServerOptions", "make_server"]
