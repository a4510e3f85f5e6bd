"""Pairs of inputs and outputs, of programs and of functions.

APPS, TACO, verl and others have ``{"inputs": [...], "outputs": [...], "fn_name": ...}``. Without a
name, an input is the standard input of a program, as text or a list of lines. With one, it is the
list of arguments, or a text with the JSON of one argument in each line.
"""

import ast
import re
from typing import Any, Literal

from llm_sandbox.evaluation.datasets.fields import Fields, check_text, mismatch
from llm_sandbox.evaluation.datasets.json_text import parse_json
from llm_sandbox.evaluation.datasets.oracles import WrappedValue
from llm_sandbox.evaluation.kinds import CallTest, StdioTest, Test
from llm_sandbox.exceptions import ValidationError

__all__ = [
    "PRELUDE",
    "arguments_of_lines",
    "call_pair",
    "callable_name",
    "loose_value",
    "program_text",
    "read_pairs",
]

_CONTAINERS = ("collections", "heapq", "bisect", "copy")
_NUMBERS = ("math", "random", "statistics")
_FUNCTIONS = ("itertools", "functools", "operator")
_MODULES = ("string", "re", "datetime", *_CONTAINERS, *_NUMBERS, *_FUNCTIONS, "io", "sys", "json")
PRELUDE = (
    "".join(f"from {name} import *\n" for name in (*_MODULES, "builtins", "typing"))
    + "".join(f"import {name}\n" for name in _MODULES)
    + "sys.setrecursionlimit(50000)\n"
)
"""Imports that these data sets run before each solution: theirs often need `List` and the like."""

_OUTPUT_CHECKER = "tokens_float(rel=1e-05, abs=1e-08)"
_VALUE_CHECKER = WrappedValue("equal(sequences=True, numbers=True)")


def callable_name(
    name: str, starter: str, default: Literal["function", "method"], where: str = "fn_name"
) -> str:
    """Return the name to call a function by: itself, or as a method of ``Solution()``.

    Args:
        name: The function.
        starter: Code that solutions begin with, or the question.
        default: What it is where `starter` does not tell.
        where: The field, for errors.

    Raises:
        ValidationError: The name is not one of Python's.
    """
    if not name.isidentifier():
        raise ValidationError(
            f"invalid {where}: expected the name of a function, got other text", parameter=where
        )
    if re.search(rf"^(async )?def {re.escape(name)}\b", starter, re.MULTILINE):
        return name
    if default == "method" or re.search(r"^class Solution\b", starter, re.MULTILINE):
        return f"Solution().{name}"
    return name


def program_text(name: str, value: object) -> str:
    """Return an input or output of a program, given as text or as lines.

    Raises:
        ValidationError: It is neither.
    """
    if isinstance(value, list | tuple):
        return "\n".join(check_text(f"{name}[{i}]", line) for i, line in enumerate(value))
    return check_text(name, value)


def arguments_of_lines(name: str, text: str) -> tuple[Any, ...]:
    """Return the arguments of a call from JSON, one in each line; none for an empty text.

    Raises:
        ValidationError: A line is not JSON.
    """
    if not text.strip():
        return ()
    lines = text.strip("\n").split("\n")
    return tuple(parse_json(line, f"line {i} of {name}") for i, line in enumerate(lines, 1))


def loose_value(text: str) -> Any:
    """Return the value of a text that is JSON, or else a Python literal, or else only text."""
    try:
        return parse_json(text)
    except ValidationError:
        pass
    try:
        return ast.literal_eval(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def read_pairs(record: Fields, starter: str, default: Literal["function", "method"]) -> list[Test]:
    """Return the tests of an object with inputs and outputs.

    Args:
        record: The object.
        starter: Code that solutions begin with, or the question; see `callable_name`.
        default: Whether functions are methods of ``Solution()`` where `starter` does not tell.

    Raises:
        ValidationError: A field is of another type, there is no pair, or an input has no output.
    """
    inputs, outputs = record.items("inputs"), record.items("outputs")
    if not inputs or len(inputs) != len(outputs):
        path = record.path("inputs")
        raise ValidationError(
            f"invalid {path}: expected at least one, and as many outputs, "
            f"got {len(inputs)} and {len(outputs)}",
            parameter=path,
        )
    name = record.text("fn_name", "")
    fn = callable_name(name, starter, default, record.path("fn_name")) if name else ""
    tests: list[Test] = []
    for index, (given, wanted) in enumerate(zip(inputs, outputs, strict=True)):
        path = f"{record.path('inputs')}[{index}]"
        if name:
            tests.append(call_pair(fn, path, given, wanted))
            continue
        stdin = program_text(path, given)
        stdout = program_text(f"{record.path('outputs')}[{index}]", wanted)
        tests.append(StdioTest(stdin, stdout, checker=_OUTPUT_CHECKER))
    return tests


def call_pair(fn: str, name: str, given: object, wanted: object) -> CallTest:
    """Return the test of one call.

    Args:
        fn: The function.
        name: The field of the input, for errors.
        given: Arguments as a list, or as a text of JSON lines, whose output is JSON then.
        wanted: The output, or a list of it alone.

    Raises:
        ValidationError: The arguments are neither.
    """
    if isinstance(given, str):
        arguments = arguments_of_lines(name, given)
        expected = loose_value(wanted) if isinstance(wanted, str) else wanted
    elif isinstance(given, list | tuple):
        arguments, expected = tuple(given), wanted
    else:
        raise mismatch(name, "a list of arguments, or text", given)
    # JSON has made text of the whole numbers that were keys; these data sets turn them back in the
    # first argument and in the result.
    first = [_integer_keys(one) for one in arguments[:1]]
    if isinstance(expected, list):
        expected = [_integer_keys(one) for one in expected[:1]] + expected[1:]
    return CallTest(
        fn,
        args=(*first, *arguments[1:]),
        expected=_integer_keys(expected),
        checker=_VALUE_CHECKER,
    )


def _integer_keys(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    try:
        return {int(key): item for key, item in value.items()}
    except (TypeError, ValueError):
        return value
