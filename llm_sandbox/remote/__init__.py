"""Sessions on a server, `llm-sandbox serve`: `create_session(server=..., token=...)`.

A session is the same class; what runs, and its files, are on the server. Start reading at
`runtime`. May import what a session may.
"""

from llm_sandbox.remote.runtime import RemoteBackend, RemoteRuntime

__all__ = ["RemoteBackend", "RemoteRuntime"]
