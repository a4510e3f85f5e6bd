"""API of this server itself: sessions with all that their results hold, below ``/v1``.

The only one that is made with FastAPI, for its OpenAPI document. Start reading at `api`; the client
is `llm_sandbox.remote`.
"""

__all__: list[str] = []
