"""Functions that call what they are given, at once or later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.iteration import members
from llm_sandbox.security.python.pure import HIGHER
from llm_sandbox.security.python.sinks import is_tracked
from llm_sandbox.security.python.targets import tracked_parts
from llm_sandbox.security.python.values import (
    Args,
    BoundMethod,
    Class,
    Const,
    Deferred,
    Function,
    Getter,
    Instance,
    Items,
    Keywords,
    Partial,
    Ref,
    Value,
    choose,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["LATER", "called_later", "higher"]


def _invoke(
    m: Interpreter, callee: Value | None, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    from llm_sandbox.security.python.calls import invoke

    return invoke(m, callee, args, keywords, node)


def higher(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    """`map`, `filter`, `reduce`: put off when the members are known, to be worked out if needed."""
    if len(args) < 2:
        return None
    kind = HIGHER[ref.name]
    callee = args[0]
    matters = any(tracked_parts(arg) for arg in args) or isinstance(callee, (Getter, Partial))
    if m.exact or matters:
        return _applied(m, kind, callee, args[1:], node)
    if isinstance(callee, Function):
        # Seen once for what it does; its result is worked out only when something needs it.
        first = [members(m, arg) for arg in args[1:]]
        _invoke(
            m, callee, [choose(one) if one and len(one) < 20 else None for one in first], {}, node
        )
    return Deferred(lambda: _applied(m, kind, callee, args[1:], node))


def _applied(
    m: Interpreter, kind: str, callee: Value | None, args: Args, node: Any
) -> Value | None:
    rows = [members(m, m.force(arg)) for arg in args[: None if kind == "map" else 1]]
    if any(row is None for row in rows):
        if isinstance(callee, Ref) and is_tracked(callee.name):
            _invoke(m, callee, [None], {}, node)
        return None
    row = rows[0] or []
    if not m.spend(len(row)):
        return None
    if kind == "map":
        pairs = zip(*[one or [] for one in rows], strict=False)
        return Items("list", [_invoke(m, callee, list(pair), {}, node) for pair in pairs])
    if kind == "starmap":
        made = [_invoke(m, callee, members(m, one) or [one], {}, node) for one in row]
        return Items("list", made)
    if kind == "filter":
        kept = [one for one in row if _is_kept(m, callee, one, node)]
        return Items("list", kept)
    return _reduced(m, kind, callee, row, args, node)


def _reduced(
    m: Interpreter, kind: str, callee: Value | None, row: Args, args: Args, node: Any
) -> Value | None:
    start = args[1:2] if kind == "reduce" else []
    todo = [*start, *row]
    if not todo:
        return None
    total = todo[0]
    totals = [total]
    for one in todo[1:]:
        total = _invoke(m, callee, [total, one], {}, node)
        totals.append(total)
    return total if kind == "reduce" else Items("list", totals)


def _is_kept(m: Interpreter, callee: Value | None, one: Value | None, node: Any) -> bool:
    if isinstance(callee, Const):
        return bool(m.plain(one))
    result = m.force(_invoke(m, callee, [one], {}, node))
    return not (isinstance(result, Const) and not result.value)


def called_later(
    m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """Functions that call what they are given: threads, exit handlers, executors."""
    target = keywords.get(
        "target", keywords.get("function", keywords.get("func", keywords.get("initializer")))
    )
    spread = members(m, keywords.get("args", keywords.get("initargs")))
    given: Args = list(spread or [])
    for number, arg in enumerate(args):
        if number == 0 and ref.name == "weakref.finalize":
            continue
        if target is None and _is_callable(arg):
            target = arg
            given = given or list(args[number + 1 :])
            more = members(m, given[0]) if given and isinstance(given[0], Items) else None
            given = more if more is not None else given
            break
    if target is not None:
        _invoke(m, target, given, {}, node)
    return Ref(f"{ref.name}()")


def _is_callable(value: Value | None) -> bool:
    if isinstance(value, Ref):
        return is_tracked(value.name)
    return isinstance(value, (Function, Partial, Getter, BoundMethod, Class, Instance, Deferred))


LATER = """
    threading.Thread threading.Timer _thread.start_new_thread _thread.start_new atexit.register
    weakref.finalize weakref.WeakMethod signal.signal sched.scheduler().enter
    sched.scheduler().enterabs contextlib.ExitStack().callback
    contextlib.AsyncExitStack().callback contextlib.ExitStack().push
    concurrent.futures.ThreadPoolExecutor().submit concurrent.futures.ThreadPoolExecutor().map
    concurrent.futures.ThreadPoolExecutor concurrent.futures.thread.ThreadPoolExecutor().submit
    asyncio.to_thread asyncio.get_event_loop().run_in_executor
    asyncio.new_event_loop().run_in_executor asyncio.get_running_loop().run_in_executor
    asyncio.get_event_loop().call_soon asyncio.new_event_loop().call_soon
    asyncio.get_event_loop().call_later asyncio.new_event_loop().call_later
    asyncio.get_running_loop().call_soon asyncio.get_running_loop().call_later
    multiprocessing.dummy.Pool().map multiprocessing.pool.ThreadPool().map
    multiprocessing.pool.ThreadPool().apply multiprocessing.pool.ThreadPool().apply_async
    multiprocessing.dummy.Pool().apply sys.settrace sys.setprofile threading.settrace
    threading.setprofile os.register_at_fork multiprocessing.Process multiprocessing.Pool
    concurrent.futures.ProcessPoolExecutor contextvars.copy_context().run
    contextvars.Context().run codecs.register timeit.timeit timeit.repeat timeit.Timer
    cProfile.Profile().runcall profile.Profile().runcall trace.Trace().runfunc bdb.Bdb().runcall
    pdb.runcall pdb.Pdb().runcall functools.singledispatch threading.Thread().__init__
    concurrent.futures.Future().add_done_callback asyncio.Task asyncio.ensure_future
    unittest.FunctionTestCase code.InteractiveInterpreter().runcode tkinter.Tk().after
    gc.callbacks.append sys.addaudithook types.MethodType unittest.mock.Mock
    unittest.mock.MagicMock types.DynamicClassAttribute functools.lru_cache() functools.cache
    functools.lru_cache functools.wraps() anyio.to_thread.run_sync trio.to_thread.run_sync
    anyio.run trio.run joblib.delayed numpy.vectorize numpy.frompyfunc numpy.apply_along_axis
    numpy.fromfunction pandas.Series().apply pandas.Series().map pandas.DataFrame().apply
    pandas.DataFrame().map pandas.DataFrame().pipe pandas.DataFrame().applymap itertools.takewhile
    itertools.dropwhile itertools.filterfalse itertools.groupby re.sub re.compile().sub
"""
