"""Functions of this process that code of a session can call, over its existing streams.

A call is sent as a display with a private MIME type, and the answer is received as a line of input,
without a port, file or program in between.
"""

import asyncio
import contextvars
import inspect
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from llm_sandbox.results.outputs import DisplayOutput, Output

__all__ = ["CALL_MIME", "HostTools", "program"]

CALL_MIME = "application/vnd.llm-sandbox.call+json"
"""MIME type of the display that carries a call."""

_PROGRAM = f'''
import threading as _host_threading

_host_lock = _host_threading.Lock()


def _call_host(_name, _args, _kwargs):
    import json

    from IPython.display import display

    def plain(value):
        for way in ("tolist", "to_dict", "model_dump"):
            if hasattr(value, way):
                return getattr(value, way)()
        if isinstance(value, (set, frozenset, range)):
            return list(value)
        raise TypeError(f"{{type(value).__name__}} cannot be converted to JSON: give plain data")

    call = json.dumps({{"name": _name, "args": _args, "kwargs": _kwargs}}, default=plain)
    with _host_lock:
        display({{"{CALL_MIME}": {{"call": call}}}}, raw=True)
        answer = json.loads(input())
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["value"]


def _host_tool(_name):
    def tool(*args, **kwargs):
        return _call_host(_name, args, kwargs)

    tool.__name__ = tool.__qualname__ = _name
    return tool

'''


def program(names: tuple[str, ...]) -> str:
    """Return the code that defines proxy functions of these names in the sandbox.

    Args:
        names: Python identifiers.
    """
    return _PROGRAM + "".join(f"{name} = _host_tool({name!r})\n" for name in names)


class HostTools(Iterator[str]):
    """Dispatcher of calls for one run: an output callback that receives calls, and an iterator of
    answers for standard input.

    Arguments and values are JSON. Exceptions of a function are raised in the code. Coroutines are
    awaited. Code that reads input without a call sees the end of input.

    Args:
        tools: Functions by name.
    """

    def __init__(self, tools: Mapping[str, Callable[..., Any]]) -> None:
        self._tools = tools
        self._context = contextvars.copy_context()
        self._asked: deque[object] = deque()

    def take_call(self, output: Output) -> None:
        """Queue a call; use as ``run(on_output=...)``."""
        if isinstance(output, DisplayOutput) and CALL_MIME in output.data:
            self._asked.append(output.data[CALL_MIME])

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        """Answer the oldest call; use the object as ``run(stdin=...)``."""
        if not self._asked:
            raise StopIteration
        try:
            value = self._context.run(self._call, self._asked.popleft())
            line = json.dumps({"value": value}, allow_nan=False)
        except Exception as error:  # noqa: BLE001 - raised by the caller's function, and again inside
            line = json.dumps({"error": f"{type(error).__name__}: {error}"})
        return line + "\n"

    def _call(self, asked: object) -> object:
        # trust: whatever code inside has written; it may call these functions, and no others.
        call = json.loads(asked["call"]) if isinstance(asked, Mapping) else None
        if not isinstance(call, dict):
            raise TypeError("invalid call")
        name, args, kwargs = call.get("name"), call.get("args"), call.get("kwargs")
        if not isinstance(name, str) or name not in self._tools:
            raise NameError(f"there is no function {name!r}")
        if not isinstance(args, list) or not isinstance(kwargs, dict):
            raise TypeError("invalid call")
        value = self._tools[name](*args, **kwargs)
        return _awaited(value) if inspect.isawaitable(value) else value


def _awaited(value: Awaitable[object]) -> object:
    async def wait() -> object:
        return await value

    # In a thread of its own: the one here may have a running event loop.
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(context.run, asyncio.run, wait()).result()
