"""Assertions about a candidate that is elsewhere: its functions are calls over a connection.

They run in a sandbox of their own, so that they can hold expected values: the candidate sees the
arguments of its calls and nothing else.
"""

from __future__ import annotations

import ast
import builtins
import os
import types

from . import candidate
from .bulk import Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any, NoReturn

_MOST_TEXT = 300


class NotByProxyError(BaseException):
    """Use of a candidate that a proxy cannot imitate.

    Not an `Exception`, so that no handler of a test takes it for an error of the candidate.
    """


class WrongValueError(BaseException):
    """Value of a candidate that is an object of its own: no method of it takes part in a test."""


class Remote:
    """Candidate at the other end of a connection.

    Args:
        stream: Connection to what calls the candidate.

    Attributes:
        last: The last call and what came back, for people.
    """

    def __init__(self, stream: socket.socket) -> None:
        self._connection = Connection(stream)
        self.last = ""

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the candidate: return its value, or raise what it raised."""
        from shim import values

        try:
            parts = values.encode([list(args), kwargs])
        except values.TransferError as error:
            raise NotByProxyError(f"an argument of {name}: {error}") from None
        self.send({"fn": name}, list(parts))
        reply = self._connection.receive_record()
        header, blob = (next(self._connection.chunks()) if size else b"" for size in reply["sizes"])
        if reply.get("raised"):
            self.last = f"{name}(...) raised {reply['raised']['type']}"
            raise _error_of(reply["raised"])
        if reply.get("not_transferable"):
            kind = reply["not_transferable"].get("type", "a value")
            self.last = f"{name}(...) returned {kind}, which is not plain data"[:_MOST_TEXT]
            raise WrongValueError(self.last)
        value, args_after, kwargs_after = values.decode(header, blob)
        value = _again(reply.get("made_of"), value)
        for before, after in zip(args, args_after, strict=True):
            _update(before, after)
        for key, after in kwargs_after.items():
            _update(kwargs[key], after)
        self.last = f"{name}(...) returned {value!r}"[:_MOST_TEXT]
        return value

    def send(self, record: dict[str, Any], parts: list[bytes]) -> None:
        """Send a record with parts."""
        self._connection.send_record({**record, "sizes": [len(part) for part in parts]})
        for part in filter(None, parts):
            self._connection.send_chunk(part)


class Function:
    """Function of a candidate that is elsewhere."""

    def __init__(self, remote: Remote, name: str) -> None:
        self._remote = remote
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._remote.call(self.__name__, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        raise NotByProxyError(f"{self.__name__}.{name}: an attribute of the candidate")

    def __instancecheck__(self, _: object) -> bool:
        raise NotByProxyError(f"{self.__name__}: a class of the candidate")


def _again(kind: str | None, value: Any) -> Any:
    """Return an iterator or a view like that which the candidate returned."""
    if kind == "range":
        return range(*value)
    if kind == "iterator":
        return iter(value)
    if kind == "dict_keys":
        return dict.fromkeys(value).keys()
    if kind == "dict_items":
        return dict(value).items()
    return value


def _update(before: Any, after: Any) -> None:
    """Change an argument as the candidate changed its copy."""
    if type(before) is not type(after) or before == after:
        return
    if isinstance(before, list | bytearray):
        before[:] = after
    elif isinstance(before, dict | set):
        before.clear()
        before.update(after)


def _error_of(raised: dict[str, Any]) -> BaseException:
    """Return an exception like one of the candidate's, of a class with the same name."""
    for name in raised["bases"]:
        base = getattr(builtins, name, None)
        if isinstance(base, type) and issubclass(base, BaseException):
            break
    else:
        base = Exception
    kind = base
    if base.__name__ != raised["type"]:
        kind = type(str(raised["type"]), (base,), {})
    try:
        error = kind(raised["message"])
    except Exception:  # noqa: BLE001 - a class with other arguments, such as UnicodeDecodeError
        error = Exception(f"{raised['type']}: {raised['message']}")
    error._is_candidates = True  # type: ignore[attr-defined]
    return error


def free_names(code: types.CodeType) -> set[str]:
    """Return the global names that code uses and does not define."""
    used: set[str] = set()
    defined: set[str] = set()
    pending = [code]
    while pending:
        part = pending.pop()
        used.update(part.co_names)
        if part is code:
            defined.update(_stored(part))
        pending += [const for const in part.co_consts if isinstance(const, types.CodeType)]
    return {name for name in used - defined if not hasattr(builtins, name)}


def _stored(code: types.CodeType) -> set[str]:
    import dis

    return {
        str(step.argval)
        for step in dis.get_instructions(code)
        if step.opname in ("STORE_NAME", "STORE_GLOBAL")
    }


def check_usage(tree: ast.AST, names: set[str]) -> None:
    """Refuse assertions that use more of a candidate than values of its functions.

    It is for the assertions to say that they need objects of the candidate, and not for the
    candidate, whose objects may compare equal to everything.

    Args:
        tree: The assertions.
        names: Names of the candidate.

    Raises:
        NotByProxyError: They do.
    """
    objects = {name for name in names if name[:1].isupper()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _calls(node.value, names):
            for target in node.targets:
                objects.update(part.id for part in ast.walk(target) if isinstance(part, ast.Name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names and node.id[:1].isupper():
            raise NotByProxyError(f"{node.id}: a class of the candidate")
        if isinstance(node, ast.Attribute) and node.attr not in _PLAIN_METHODS:
            owner = node.value
            if _calls(owner, names) or (isinstance(owner, ast.Name) and owner.id in objects):
                raise NotByProxyError(f"{ast.unparse(node)}: an attribute of a value")


def _calls(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


_PLAIN_METHODS = {
    name
    for kind in (int, float, complex, str, bytes, list, tuple, dict, set, frozenset)
    for name in dir(kind)
}


def run(source: str, setup: str, entry_point: str | None, stream: socket.socket) -> NoReturn:
    """Run assertions, and report how they ended.

    Args:
        source: The assertions, or a function ``check``.
        setup: Code that runs before them.
        entry_point: Name that ``check`` is called with; None for none.
        stream: Connection to what calls the candidate and takes the report.
    """
    remote = Remote(stream)
    facts: dict[str, Any] = {}
    try:
        namespace: dict[str, Any] = {"__name__": "tests", "__builtins__": builtins}
        setup_code = compile(setup, "<setup>", "exec", dont_inherit=True)
        code = compile(source, candidate.TESTS, "exec", dont_inherit=True)
        exec(setup_code, namespace)  # noqa: S102 - it is what it is for
        names = {*free_names(code), *([] if entry_point is None else [entry_point])}
        names -= namespace.keys()
        check_usage(ast.parse(source), names if entry_point is None else {*names, "candidate"})
        for name in names:
            namespace[name] = Function(remote, name)
        exec(code, namespace)  # noqa: S102
        if entry_point is not None and "check" in namespace:
            namespace["check"](namespace[entry_point])
        facts["passed"] = True
    except NotByProxyError as error:
        facts["not_by_proxy"] = str(error)
    except BaseException as error:  # noqa: BLE001 - reported
        facts |= {
            "type": type(error).__name__,
            "message": candidate.text_of(error)[:_MOST_TEXT],
            "line": candidate.line_of(error),
            "is_candidates": getattr(error, "_is_candidates", False),
            "last": remote.last,
        }
    remote.send({"ended": facts}, [])
    os._exit(0)
