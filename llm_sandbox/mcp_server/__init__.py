"""MCP server for clients that are configured for the reference: ``llm-sandbox-mcp``, or ``python -m
llm_sandbox.mcp_server.server``.

It has the tools and environment variables of the reference, and a fresh sandbox for every call.
``llm-sandbox mcp`` is the server that keeps variables and files between calls; see
`llm_sandbox.integrations.mcp`.
"""
