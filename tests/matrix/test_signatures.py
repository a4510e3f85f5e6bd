"""Our faces take what their references take: parameters by their names, order and defaults."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from typing import Any

import pytest

from tests.matrix.reference import REFERENCES, Member, Reference, load

CALL = re.compile(r"\w+\((.*)\)(?: -> .+)?", re.DOTALL)
PARAMETER = re.compile(r"\*?\w+: .+", re.DOTALL)
EMPTY = ((), [], {})
CALLS = [
    pytest.param(reference, member, id=f"{reference.key}-{member.key}")
    for reference in map(load, REFERENCES)
    for member in reference.members
    if "(" in member.name
    and " " not in member.name.partition("(")[0]
    and (CALL.fullmatch(member.signature) or PARAMETER.fullmatch(member.signature))
]


def ours(reference: Reference, member: Member) -> dict[str, inspect.Parameter]:
    """What our own takes."""
    found: Any = importlib.import_module(reference.module)
    for name in member.name.partition("(")[0].split("."):
        found = getattr(found, name)
    return dict(inspect.signature(found).parameters)


def theirs(signature: str) -> dict[str, Any]:
    """Parameters of a signature; their default as text, None for none."""
    call = CALL.fullmatch(signature)
    tree = ast.parse(f"def f({call[1] if call else signature}): pass").body[0]
    assert isinstance(tree, ast.FunctionDef)
    given = tree.args
    plain = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
    found: dict[str, Any] = {}
    for arg, default in [
        *zip(given.args, plain, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]:
        found[arg.arg] = None if default is None else ast.unparse(default)
    return found


def test_there_are_calls_to_compare() -> None:
    assert len(CALLS) > 80


@pytest.mark.parametrize(("reference", "member"), CALLS)
def test_parameters_are_those_of_the_reference(reference: Reference, member: Member) -> None:
    """There may be more, behind them; a default is the same, but for collections' kinds."""
    expected, found = theirs(member.signature), ours(reference, member)
    assert list(expected) == [name for name in found if name in expected]
    for name, default in expected.items():
        own = found[name].default
        if default is None:
            assert own is inspect.Parameter.empty, name
        elif "." not in default and "Field" not in default:
            value = ast.literal_eval(default)
            assert value == own or (value in EMPTY and own in EMPTY), name
