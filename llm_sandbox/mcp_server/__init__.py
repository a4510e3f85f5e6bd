"""The server of the Model Context Protocol that clients of the reference are configured for:
``llm-sandbox-mcp``, or ``python -m llm_sandbox.mcp_server.server``.

It has its tools and variables, and a fresh sandbox for every call. ``llm-sandbox mcp`` is the one
that keeps variables and files between calls; see `llm_sandbox.integrations.mcp`.
"""
