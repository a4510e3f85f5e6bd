"""Functions of this process that a session's code calls, by the channel that it has anyway.

A call goes out as a display of a type of its own, and the answer comes in as a line of input: no
port, no file and no program is needed in between.
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
"""The type of the display that is a call."""

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
        raise TypeError(f"{{type(value).__name__}} is no JSON: give plain data")

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
    """Return what has to run inside once: it defines functions of these names.

    Args:
        names: Identifiers.
    """
    return _PROGRAM + "".join(f"{name} = _host_tool({name!r})\n" for name in names)


class HostTools(Iterator[str]):
    """The functions, for one run: what it hears are calls, and its lines are answers.

    Arguments and values are JSON. What a function raises is an error inside. Coroutines are run to
    their end. Code that reads input without a call finds its end.

    Args:
        tools: Functions by name.
    """

    def __init__(self, tools: Mapping[str, Callable[..., Any]]) -> None:
        self._tools = tools
        self._context = contextvars.copy_context()
        self._asked: deque[object] = deque()

    def take_call(self, output: Output) -> None:
        """Take a call: for `run(on_output=...)`."""
        if isinstance(output, DisplayOutput) and CALL_MIME in output.data:
            self._asked.append(output.data[CALL_MIME])

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        """Answer the oldest call: for `run(stdin=...)`."""
        if not self._asked:
            raise StopIteration
        try:
            value = self._context.run(self._call, self._asked.popleft())
            line = json.dumps({"value": value}, allow_nan=False)
        except Exception as error:  # noqa: BLE001 - of a function of the caller's: told inside
            line = json.dumps({"error": f"{type(error).__name__}: {error}"})
        return line + "\n"

    def _call(self, asked: object) -> object:
        # trust: whatever code inside has written; it may call these functions, and no others.
        call = json.loads(asked["call"]) if isinstance(asked, Mapping) else None
        if not isinstance(call, dict):
            raise TypeError("this is no call")
        name, args, kwargs = call.get("name"), call.get("args"), call.get("kwargs")
        if not isinstance(name, str) or name not in self._tools:
            raise NameError(f"there is no function {name!r}")
        if not isinstance(args, list) or not isinstance(kwargs, dict):
            raise TypeError("this is no call")
        value = self._tools[name](*args, **kwargs)
        return _awaited(value) if inspect.isawaitable(value) else value


def _awaited(value: Awaitable[object]) -> object:
    async def wait() -> object:
        return await value

    # In a thread of its own: the one here may have a running event loop.
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(context.run, asyncio.run, wait()).result()
