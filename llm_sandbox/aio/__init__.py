"""Awaitable twins of the library's API for asyncio and trio: methods are awaited, with the names,
parameters, results and exceptions of the synchronous ones; properties are the same.

A call is made in a worker thread, so that nothing here blocks an event loop. Cancelling one that
runs code or a command stops that, and leaves the session usable; cancelling one that only waits for
a program leaves the program running.

May import everything that its synchronous twin may. Start reading at `session`, then `threads`.
"""

from llm_sandbox.aio.files import AsyncFiles
from llm_sandbox.aio.pool import AsyncSandboxPool
from llm_sandbox.aio.process import AsyncProcess
from llm_sandbox.aio.sandbox import AsyncSandbox
from llm_sandbox.aio.session import AsyncSession, attach_session, create_session
from llm_sandbox.aio.streams import AsyncInputStream, AsyncOutputStream

__all__ = [
    "AsyncFiles",
    "AsyncInputStream",
    "AsyncOutputStream",
    "AsyncProcess",
    "AsyncSandbox",
    "AsyncSandboxPool",
    "AsyncSession",
    "attach_session",
    "create_session",
]
