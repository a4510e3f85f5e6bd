"""Modelled functions, whose results are followed: lookups, imports, higher-order functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python import effects
from llm_sandbox.security.python.binding import members, set_attribute, set_item, tracked_parts
from llm_sandbox.security.python.folding import text_of
from llm_sandbox.security.python.imports import (
    all_modules,
    find_spec,
    import_by_name,
    load_module,
    one_module,
    resolve_name,
)
from llm_sandbox.security.python.lookups import attribute, item
from llm_sandbox.security.python.pure import HIGHER
from llm_sandbox.security.python.sinks import CALLS, WATCHED, is_tracked
from llm_sandbox.security.python.values import (
    Args,
    BoundMethod,
    Class,
    Code,
    Const,
    Deferred,
    Function,
    Getter,
    Instance,
    Items,
    Keywords,
    Namespace,
    Partial,
    PathValue,
    Ref,
    Table,
    Tainted,
    Value,
    choose,
    options,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["LATER", "MODELS", "called_later", "get_attribute", "higher", "report_escape"]


def _invoke(
    m: Interpreter, callee: Value | None, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    from llm_sandbox.security.python.calls import invoke

    return invoke(m, callee, args, keywords, node)


def higher(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    """Model `map`, `filter` and `reduce`, deferred when the members are known."""
    if len(args) < 2:
        return None
    kind = HIGHER[ref.name]
    callee = args[0]
    matters = any(tracked_parts(arg) for arg in args) or isinstance(callee, (Getter, Partial))
    if m.exact or matters:
        return _applied(m, kind, callee, args[1:], node)
    if isinstance(callee, Function):
        # Interpreted once for its effects; the result is computed only when it is needed.
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
    """Model functions that call their arguments: threads, exit handlers, executors."""
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


def report_escape(m: Interpreter, held: list[Value], node: Any) -> None:
    """Report a watched module that is passed to code that is not modelled."""
    for one in held:
        if isinstance(one, Ref) and one.name in WATCHED:
            m.report_unresolved(Capability.MODULE_ESCAPE, node, one.name)
            return


def get_attribute(
    m: Interpreter, base: Value | None, given: Value | None, default: Value | None, node: Any
) -> Value | None:
    """Return the value of ``getattr(base, given)``."""
    if isinstance(base, Deferred):
        base = m.force(base)
    results: list[Value | None] = []
    for one in options(m.force(given)) or (None,):
        name = m.plain(one)
        if isinstance(name, str) and name:
            value = base
            for part in name.split(".") if isinstance(base, Ref) else [name]:
                value = attribute(m, value, part, node) if part else None
            results.append(value)
        else:
            results.append(_unnamed(m, base, node))
    return choose([*results, default])


def _unnamed(m: Interpreter, base: Value | None, node: Any) -> Value | None:
    held = tracked_parts(base)
    for one in held:
        name = one.name if isinstance(one, Ref) else "a module"
        if isinstance(one, Tainted) or name in WATCHED:
            m.report_unresolved(Capability.DYNAMIC_UNRESOLVED, node, f"getattr({name}, ..)")
            return Tainted(tuple(held))
    if isinstance(base, Ref) and base.name.startswith("IPython.shell"):
        m.report_unresolved(Capability.DYNAMIC_UNRESOLVED, node, f"getattr({base.name}, ..)")
    if isinstance(base, (Instance, Class)):
        fields = base.cls.fields if isinstance(base, Instance) else base.fields
        return choose([v for v in fields.values() if isinstance(v, (Function, Ref))][:8])
    return None


def _getattr(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    if len(args) < 2:
        return Tainted(tuple(tracked_parts(args[0]))) if args and tracked_parts(args[0]) else None
    return get_attribute(m, args[0], args[1], args[2] if len(args) > 2 else None, node)


def _setattr(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    if len(args) == 3:
        name = m.plain(m.force(args[1]))
        if isinstance(name, str):
            set_attribute(m, args[0], name, args[2], node)
        else:
            report_escape(m, tracked_parts(args[2]), node)
    return None


def _vars(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    if not args:
        return Namespace(scope=m.scope)
    return Namespace(args[0]) if args[0] is not None else None


def _globals(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    return Namespace(scope=m.scope.module)


def _partial(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    return Partial(args[0], args[1:], keywords) if args else None


def _attrgetter(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value:
    return Getter("attribute", args)


def _itemgetter(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value:
    return Getter("item", args)


def _methodcaller(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value:
    return Getter("method", args[:1], args[1:], keywords)


def _getitem(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    return item(m, args[0], m.force(args[1]), node) if len(args) > 1 else None


def _setitem(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    if len(args) > 2:
        set_item(m, args[0], args[1], args[2], node)
    return None


def _operator_call(
    m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    return _invoke(m, args[0], args[1:], keywords, node) if args else None


def _type(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    if len(args) == 1:
        one = args[0]
        if isinstance(one, Instance):
            return one.cls
        if isinstance(one, (Const, Items, Table)):
            return attribute(m, one, "__class__", node)
        if isinstance(one, Function):
            return Ref("types.FunctionType")
        if isinstance(one, (BoundMethod, Partial)) or (isinstance(one, Ref) and one.name in CALLS):
            return Ref("builtins.type()")
        return Ref("types.ModuleType") if isinstance(one, Ref) and one.name in WATCHED else None
    if len(args) == 3:
        bases = members(m, args[1]) or []
        cls = Class(text_of(args[0]) or "", m.scope, list(bases))
        if isinstance(args[2], Table):
            cls.fields.update({str(key): value for key, value in args[2].entries.items()})
        return cls
    return None


def _super(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    owner = m.function.owner if m.function is not None else None
    if owner is None:
        return None
    for base in owner.bases:
        if isinstance(base, Class):
            return Instance(base)
    refs = [base for base in owner.bases if isinstance(base, Ref) and base.name in CALLS]
    return Ref(refs[0].name) if refs else Ref("builtins.super()")


def _path(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    parts = [m.force(arg) for arg in args]
    texts = [one.path if isinstance(one, PathValue) else text_of(one) for one in parts]
    if any(text is None for text in texts):
        known = texts[0] if texts else None
        return PathValue(f"{known}/?" if known else None)
    return PathValue("/".join(text or "" for text in texts) or ".")


def _home(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    return PathValue("~" if ref.name.endswith("home") else ".")


def _open(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    given = args[0] if args else keywords.get("file")
    return effects.open_file(
        m, effects.path_of(m, given), args[1] if len(args) > 1 else keywords.get("mode")
    )


def _reference(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    """Model `weakref.ref`, which returns the object when it is called."""
    return Partial(Ref("copy.copy"), args[:1], {})


def _field(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    made = keywords.get("default_factory")
    return _invoke(m, made, [], {}, node) if made is not None else keywords.get("default")


def _compile(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    return Code(args[0] if args else keywords.get("source"))


def _namespace(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    cls = Class(ref.name, m.scope, [])
    cls.fields.update(keywords)
    return Instance(cls)


def _shell(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    return Ref("IPython.shell()")


def _identity(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    return args[0] if args else None


def _dir(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    from llm_sandbox.security.python.methods import contents

    return contents(args[0], "keys") if args else None


def _getmembers(
    m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    from llm_sandbox.security.python.methods import contents

    return contents(args[0], "items") if args else None


def _parsed(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    return Code(args[0]) if args else None


MODELS: dict[str, Any] = {
    **dict.fromkeys(LATER.split(), called_later),
    **dict.fromkeys(HIGHER, higher),
    "IPython.get_ipython": _shell,
    "builtins.__import__": import_by_name,
    "builtins.compile": _compile,
    "builtins.getattr": _getattr,
    "builtins.globals": _globals,
    "builtins.locals": _vars,
    "builtins.open": _open,
    "builtins.setattr": _setattr,
    "builtins.staticmethod": _identity,
    "builtins.classmethod": _identity,
    "builtins.super": _super,
    "builtins.type": _type,
    "builtins.vars": _vars,
    "builtins.reload": _identity,
    "codecs.open": _open,
    "ast.parse": _parsed,
    "ast.fix_missing_locations": _identity,
    "builtins.dir": _dir,
    "builtins.memoryview": _identity,
    "inspect.getmembers": _getmembers,
    "inspect.getmembers_static": _getmembers,
    "io.StringIO": _identity,
    "io.BytesIO": _identity,
    "io.TextIOWrapper": _identity,
    "io.BufferedReader": _identity,
    **dict.fromkeys(
        [f"sys.modules.{name}" for name in ("get", "pop", "__getitem__", "setdefault")], one_module
    ),
    **dict.fromkeys([f"sys.modules.{name}" for name in ("items", "values", "copy")], all_modules),
    "weakref.ref": _reference,
    "weakref.proxy": _identity,
    "dataclasses.field": _field,
    "copy.copy": _identity,
    "copy.deepcopy": _identity,
    "functools.partial": _partial,
    "functools.partialmethod": _partial,
    "importlib.__loader__.load_module": load_module,
    "importlib.__loader__.find_spec": find_spec,
    "importlib.__loader__.create_module": load_module,
    "importlib.__spec__.loader.load_module": load_module,
    "importlib.import_module": import_by_name,
    "importlib.machinery.BuiltinImporter.load_module": load_module,
    "importlib.machinery.BuiltinImporter().load_module": load_module,
    "importlib.machinery.BuiltinImporter.create_module": load_module,
    "importlib.machinery.BuiltinImporter.find_spec": find_spec,
    "importlib.machinery.BuiltinImporter.find_module": _identity,
    "importlib.machinery.FrozenImporter.load_module": load_module,
    "importlib.machinery.PathFinder.find_spec": find_spec,
    "importlib.machinery.PathFinder().find_spec": find_spec,
    "importlib.machinery.ModuleSpec": find_spec,
    "importlib._bootstrap.BuiltinImporter.load_module": load_module,
    "importlib._bootstrap._load": load_module,
    "importlib._bootstrap._find_and_load": load_module,
    "importlib._bootstrap._load_unlocked": load_module,
    "importlib._bootstrap._find_spec": find_spec,
    "importlib.reload": _identity,
    "importlib.util.find_spec": find_spec,
    "importlib.util.module_from_spec": load_module,
    "imp.load_module": load_module,
    "imp.init_builtin": load_module,
    "_imp.create_builtin": load_module,
    "importlib.util._find_spec": find_spec,
    "inspect.getmodule": _identity,
    "inspect.getattr_static": _getattr,
    "inspect.unwrap": _identity,
    "io.open": _open,
    "operator.attrgetter": _attrgetter,
    "operator.call": _operator_call,
    "operator.getitem": _getitem,
    "operator.__getitem__": _getitem,
    "operator.itemgetter": _itemgetter,
    "operator.methodcaller": _methodcaller,
    "operator.setitem": _setitem,
    "pathlib.Path": _path,
    "pathlib.Path.cwd": _home,
    "pathlib.Path.home": _home,
    "pkgutil.resolve_name": resolve_name,
    "pydoc.locate": resolve_name,
    "pydoc.safeimport": import_by_name,
    "pydoc.resolve": resolve_name,
    "django.utils.module_loading.import_string": resolve_name,
    "werkzeug.utils.import_string": resolve_name,
    "sympy.external.import_module": import_by_name,
    "sympy.external.importtools.import_module": import_by_name,
    "test.support.import_helper.import_module": import_by_name,
    "test.support.import_helper.import_fresh_module": import_by_name,
    "traitlets.import_item": resolve_name,
    "traitlets.utils.importstring.import_item": resolve_name,
    "IPython.utils.importstring.import_item": resolve_name,
    "logging.config._resolve": resolve_name,
    "unittest.mock._importer": resolve_name,
    "unittest.mock._dot_lookup": resolve_name,
    "xmlrpc.server.resolve_dotted_attribute": _getattr,
    "six.moves.__import__": import_by_name,
    "types.SimpleNamespace": _namespace,
    "argparse.Namespace": _namespace,
    "unittest.mock.sentinel": _identity,
}
"""Full name to the function that models it."""
