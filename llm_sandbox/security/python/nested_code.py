"""Nested code: text that a program evaluates, interpreted as a program of its own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python.folding import UNKNOWN, text_of
from llm_sandbox.security.python.values import (
    Alternatives,
    Args,
    Class,
    Code,
    Function,
    Instance,
    Items,
    Keywords,
    Ref,
    Scope,
    Table,
    Value,
    options,
)
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = [
    "EVALUATORS",
    "examples_of_functions",
    "follow_evaluation",
    "follow_factories",
    "import_written",
    "run_text",
]


EVALUATORS: dict[str, tuple[tuple[int, str, str], ...]] = {
    "builtins.eval": ((0, "source", "python"),),
    "builtins.exec": ((0, "source", "python"),),
    "six.exec_": ((0, "_code_", "python"),),
    "types.FunctionType": ((0, "code", "python"),),
    "runpy.run_path": ((0, "path_name", "file"),),
    "builtins.execfile": ((0, "filename", "file"),),
    "runpy.run_module": ((0, "mod_name", "module"),),
    "runpy._run_module_as_main": ((0, "mod_name", "module"),),
    "timeit.timeit": ((0, "stmt", "text"), (1, "setup", "text")),
    "timeit.repeat": ((0, "stmt", "text"), (1, "setup", "text")),
    "timeit.Timer": ((0, "stmt", "text"), (1, "setup", "text")),
    "typing.get_type_hints": ((0, "obj", "hints"),),
    "inspect.get_annotations": ((0, "obj", "hints"),),
    "annotationlib.get_annotations": ((0, "obj", "hints"),),
    "timeit.main": ((0, "args", "words"),),
    "trace.main": ((0, "args", "words"),),
    "pdb.run": ((0, "statement", "loud"),),
    "pdb.runeval": ((0, "expression", "loud"),),
    "pdb.runctx": ((0, "statement", "loud"),),
    "pdb.Pdb().run": ((0, "cmd", "loud"),),
    "pdb.Pdb().runeval": ((0, "expr", "loud"),),
    "pdb.Pdb().runctx": ((0, "cmd", "loud"),),
    "bdb.Bdb().run": ((0, "cmd", "loud"),),
    "bdb.Bdb().runeval": ((0, "expr", "loud"),),
    "bdb.Bdb().runctx": ((0, "cmd", "loud"),),
    "cProfile.run": ((0, "statement", "loud"),),
    "cProfile.runctx": ((0, "statement", "loud"),),
    "cProfile.Profile().run": ((0, "cmd", "loud"),),
    "cProfile.Profile().runctx": ((0, "cmd", "loud"),),
    "profile.run": ((0, "statement", "loud"),),
    "profile.runctx": ((0, "statement", "loud"),),
    "profile.Profile().run": ((0, "cmd", "loud"),),
    "profile.Profile().runctx": ((0, "cmd", "loud"),),
    "trace.Trace().run": ((0, "cmd", "loud"),),
    "trace.Trace().runctx": ((0, "cmd", "loud"),),
    "code.InteractiveInterpreter().runsource": ((0, "source", "loud"),),
    "code.InteractiveInterpreter().runcode": ((0, "code", "loud"),),
    "code.InteractiveConsole().push": ((0, "line", "loud"),),
    "code.InteractiveConsole().runsource": ((0, "source", "loud"),),
    "code.InteractiveConsole().runcode": ((0, "code", "loud"),),
    "code.compile_command": ((0, "source", "python"),),
    "codeop.compile_command": ((0, "source", "python"),),
    "IPython.shell().run_cell": ((0, "raw_cell", "cell"),),
    "IPython.shell().run_cell_async": ((0, "raw_cell", "cell"),),
    "IPython.shell().ex": ((0, "cmd", "cell"),),
    "IPython.shell().ev": ((0, "expr", "cell"),),
    "IPython.shell().run_code": ((0, "code_obj", "python"),),
    "IPython.shell().safe_execfile": ((0, "fname", "file"),),
    "IPython.shell().magic": ((0, "arg_s", "magic"),),
    "IPython.shell().run_line_magic": ((0, "magic_name", "line"),),
    "IPython.shell().run_cell_magic": ((0, "magic_name", "line"),),
    "IPython.shell().find_line_magic": ((0, "magic_name", "line"),),
    "IPython.core.magic.run_line_magic": ((0, "magic_name", "line"),),
    "pandas.eval": ((0, "expr", "query"),),
    "pandas.core.computation.eval.eval": ((0, "expr", "query"),),
    "pandas.DataFrame().eval": ((0, "expr", "query"),),
    "pandas.DataFrame().query": ((0, "expr", "query"),),
    "numexpr.evaluate": ((0, "ex", "query"),),
    "sympy.sympify": ((0, "a", "python"),),
    "sympy.S": ((0, "a", "python"),),
    "sympy.simplify": ((0, "expr", "python"),),
    "sympy.N": ((0, "x", "python"),),
    "sympy.core.sympify.sympify": ((0, "a", "python"),),
    "sympy.parse_expr": ((0, "s", "python"),),
    "sympy.parsing.sympy_parser.parse_expr": ((0, "s", "python"),),
    "sympy.parsing.sympy_parser.eval_expr": ((0, "code", "python"),),
    "sympy.lambdify": ((1, "expr", "python"), (0, "args", "python")),
    "sympy.utilities.lambdify.lambdify": ((1, "expr", "python"), (0, "args", "python")),
    "typing.ForwardRef": ((0, "arg", "python"),),
    "typing._eval_type": ((0, "t", "python"),),
    "annotationlib.ForwardRef": ((0, "arg", "python"),),
    "doctest.run_docstring_examples": ((0, "f", "doctest"),),
    "doctest.DocTestParser().get_doctest": ((0, "string", "doctest"),),
    "doctest.DocTestParser().get_examples": ((0, "string", "doctest"),),
    "doctest.script_from_examples": ((0, "s", "doctest"),),
    "doctest.Example": ((0, "source", "python"),),
    "doctest.debug_src": ((0, "src", "doctest"),),
    "doctest.testfile": ((0, "filename", "file"),),
    "inspect.signature_": ((0, "obj", "python"),),
    "numpy.testing.rundocs": ((0, "filename", "file"),),
    "numpy.testing.runstring": ((0, "astr", "python"),),
    "numpy.testing.measure": ((0, "code_str", "loud"),),
    "numpy.testing.assert_raises_": ((0, "x", "python"),),
    "gettext.c2py": ((0, "plural", "python"),),
    "logging.config.fileConfig": ((0, "fname", "config"),),
    "asteval.Interpreter()": ((0, "expr", "python"),),
    "_xxsubinterpreters.run_string": ((1, "script", "loud"),),
    "_interpreters.run_string": ((1, "script", "loud"),),
    "_interpreters.exec": ((1, "code", "loud"),),
    "_testcapi.run_in_subinterp": ((0, "code", "loud"),),
    "site.addpackage": ((1, "name", "file"),),
    "importlib.machinery.SourceFileLoader": ((1, "path", "file"),),
    "importlib.util.spec_from_file_location": ((1, "location", "file"),),
    "imp.load_source": ((1, "pathname", "file"),),
}
"""Full name to the arguments that are evaluated: position, keyword and kind. Kinds are ``python``:
a program; ``text``: a program that is a finding by itself; ``loud``: a finding even when the text
is not known; ``hints``: annotations; ``file``: the program in a file; ``module``: the name of one;
``cell``: a notebook's cell; ``line``, ``magic``: a magic; ``query``: an expression where ``@name``
is a variable; ``doctest``: examples."""


def follow_evaluation(
    m: Interpreter, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """Interpret the text that a function evaluates, and return the result."""
    result: Value | None = None
    for position, keyword, how in EVALUATORS.get(name, ()):
        given = args[position] if position < len(args) else keywords.get(keyword)
        if given is None and position >= len(args) and keyword not in keywords:
            continue
        given = m.force(given)
        while isinstance(given, Code):
            given = m.force(given.text)
        texts = [(one, text_of(one)) for one in options(given)]
        if not texts and how == "loud":
            m.report(Capability.DYNAMIC_CODE, node, name)
        scope = _scope_of(args, keywords) if how == "python" and position == 0 else None
        for one, text in texts[:8]:
            if text is not None:
                result = _read_one(m, name, how, text, (args, keywords), node, scope)
            elif how == "words" and isinstance(one, Items):
                for word in one.items:
                    run_text(m, text_of(word) or "", node, (name,))
            elif how == "hints":
                _hints(m, one, node, name)
            elif how == "doctest":
                _docstring(m, one, node, name)
    return result


def _scope_of(args: Args, keywords: Keywords) -> Table | None:
    given = args[2] if len(args) > 2 else args[1] if len(args) > 1 else keywords.get("globals")
    return given if isinstance(given, Table) else None


def _read_one(
    m: Interpreter,
    name: str,
    how: str,
    text: str,
    given: tuple[Args, Keywords],
    node: Any,
    table: Table | None,
) -> Value | None:
    if how in {"python", "loud", "text"}:
        if how != "python":
            m.report(Capability.DYNAMIC_CODE, node, name)
        if name.startswith(("sympy.", "typing.")) and "(" not in text:
            return None
        return run_text(m, text, node, (name.removeprefix("builtins."),), table)
    if how == "query":
        if ("@" in text or "__" in text) and "(" in text:
            return run_text(m, text.replace("@", " "), node, (name,))
    elif how == "file":
        _run_file(m, text, node, name)
    elif how == "module":
        if import_written(m, text, node, (name,)) is None:
            m.report_module(text, node, (name,))
    elif how == "doctest":
        _examples(m, text, node, name)
    elif how in {"cell", "line", "magic"}:
        _cell(m, how, text, given[0], node, name)
    return None


def _cell(m: Interpreter, how: str, text: str, args: Args, node: Any, name: str) -> None:
    if how == "line":
        rest = [text_of(m.force(arg)) or "" for arg in args[1:]]
        marks = "%%" if name.endswith("run_cell_magic") else "%"
        text = f"{marks}{text} {rest[0] if rest else ''}" + "".join(
            f"\n{line}" for line in rest[1:]
        )
    elif how == "magic":
        text = text if text.startswith("%") else f"%{text}"
    run_text(m, text, node, (name,), notebook=True)


def _run_file(m: Interpreter, path: str, node: Any, name: str) -> None:
    text = m.files.get(path.removeprefix("./"))
    if text:
        run_text(m, text, node, (name,))


def _hints(m: Interpreter, one: Value, node: Any, name: str) -> None:
    definition = getattr(one, "node", None)
    found: list[ast.expr | None] = []
    if isinstance(definition, ast.ClassDef):
        found = [part.annotation for part in definition.body if isinstance(part, ast.AnnAssign)]
    elif isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        arguments = definition.args
        found = [part.annotation for part in (*arguments.args, *arguments.kwonlyargs)]
        found.append(definition.returns)
    for annotation in found:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            run_text(m, annotation.value, node, (name,))


def _docstring(m: Interpreter, one: Value, node: Any, name: str) -> None:
    if isinstance(one, Function):
        _examples(m, text_of(one.fields.get("__doc__")) or "", node, name)
    body = getattr(getattr(one, "node", None), "body", None)
    if isinstance(body, list):
        _examples(m, ast.get_docstring(one.node) or "", node, name)  # type: ignore[attr-defined]


def _examples(m: Interpreter, text: str, node: Any, name: str) -> None:
    lines = [
        line.strip()[4:] for line in text.splitlines() if line.strip().startswith((">>> ", "... "))
    ]
    if lines:
        run_text(m, "\n".join(lines), node, (name,))


def examples_of_functions(m: Interpreter, node: Any, name: str) -> None:
    """Interpret the docstring examples of all functions so far, as `doctest.testmod` does."""
    for function in list(m.functions):
        _docstring(m, function, node, name)


def run_text(
    m: Interpreter,
    text: str,
    node: Any,
    route: tuple[str, ...],
    table: Table | None = None,
    notebook: bool = False,
) -> Value | None:
    """Interpret text as a nested program, and return the value of its last expression.

    Args:
        m: The interpreter.
        text: Source text.
        node: Node that evaluates the text.
        route: Names of the functions that evaluate the text.
        table: Dictionary of names that the text runs with; None for the current scope.
        notebook: Whether the text is a cell.
    """
    from llm_sandbox.security.python.engine import read_program

    text = text.lstrip(" \t") if not notebook else text
    source = Source(text, "python", notebook)
    with m.nested_text(source, node, route) as may:
        if not may:
            return None
        if table is None:
            return read_program(m, source)
        scope = Scope("module")
        scope.values.update({key: v for key, v in table.entries.items() if isinstance(key, str)})
        with m.within(scope):
            result = read_program(m, source)
        table.entries.update(scope.values)
        return result


def import_written(m: Interpreter, name: str, node: Any, route: tuple[str, ...]) -> Value | None:
    """Interpret a module that the program itself has written; None when it has not."""
    path = name.replace(".", "/")
    for written in (f"{path}.py", f"{path}/__init__.py"):
        for known, text in list(m.files.items()):
            if known == written or known.endswith(f"/{written}"):
                if text is None:
                    m.report_unresolved(
                        Capability.DYNAMIC_UNRESOLVED, node, f"import {name}", "that it wrote"
                    )
                    return None
                return _module_of(m, name, text, node)
    return None


def _module_of(m: Interpreter, name: str, text: str, node: Any) -> Value:
    scope = Scope("module")
    with m.within(scope):
        run_text(m, text, node, (f"import {name}",))
    cls = Class(name, scope, [])
    cls.fields = scope.values
    return Instance(cls)


def follow_factories(m: Interpreter, config: Value | None, node: Any) -> None:
    """Call the names in ``()`` and ``class`` of a logging configuration."""
    if not m.spend():
        return
    if isinstance(config, Table):
        for key, value in config.entries.items():
            text = m.plain(value)
            if key in {"()", "class"} and isinstance(text, str) and text is not UNKNOWN:
                _call_by_name(m, text, config, node)
            follow_factories(m, value, node)
    elif isinstance(config, Items):
        for one in config.items:
            follow_factories(m, one, node)
    elif isinstance(config, Alternatives):
        for one in config.of:
            follow_factories(m, one, node)


def _call_by_name(m: Interpreter, name: str, config: Table, node: Any) -> None:
    from llm_sandbox.security.python.calls import invoke
    from llm_sandbox.security.python.full_names import canonical

    if name.startswith("ext://"):
        name = name[6:]
    given: Keywords = {str(k): v for k, v in config.entries.items() if k not in {"()", "class"}}
    invoke(
        m, Ref(canonical(name), ("logging.config.dictConfig",)), list(given.values()), given, node
    )
