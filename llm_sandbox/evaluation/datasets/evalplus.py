"""HumanEval+ and MBPP+ of EvalPlus: a function, and many inputs.

Fields: ``task_id``, ``prompt``, ``entry_point``, ``canonical_solution``, ``base_input``,
``plus_input``, ``atol``; others, such as ``contract``, serve the making of inputs.

Expected values are not in the file: they are what the reference, ``prompt`` with
``canonical_solution``, returns (`EXPECTED_FROM_REFERENCE`). The groups of tests are ``base`` and
``plus``. Values compare as in Python, where 1 equals 1.0, floats within ``atol``, or 1e-6 if that
is 0. Tasks with several right answers have the oracles of EvalPlus.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.datasets.mbpp_inputs import convert_inputs
from llm_sandbox.evaluation.datasets.oracles import (
    AnyValue,
    OtherValues,
    PolynomialRoot,
    SameItems,
    ValueOracle,
)
from llm_sandbox.evaluation.datasets.references import EXPECTED_FROM_REFERENCE
from llm_sandbox.evaluation.kinds import AssertTest, CallTest, Test
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["NOT_NONE_TASKS", "SAME_ITEMS_TASKS", "read_evalplus"]

SAME_ITEMS_TASKS = frozenset(
    {
        "Diff",
        "common_in_nested_lists",
        "extract_singly",
        "find_char_long",
        "find_dissimilar",
        "intersection_array",
        "larg_nnum",
        "similar_elements",
    }
)
"""Functions of MBPP+ whose results compare as sets."""

NOT_NONE_TASKS = frozenset({"check_str", "text_match_three", "text_starta_endb"})
"""Functions of MBPP+ of which only matters whether they return None, or a boolean of the same."""

_FLOAT_TOLERANCE = 1e-6
_REL = 1e-7


def read_evalplus(record: Fields, _line: int) -> Task:
    """Return the task of a record.

    Raises:
        ValidationError: A field is missing or of another type, or there is no input.
    """
    task_id, name = record.label("task_id"), record.text("entry_point")
    prompt = record.text("prompt")
    reference = prompt + record.text("canonical_solution")
    is_mbpp = task_id.lower().startswith("mbpp")
    tolerance = record.number("atol") or 0.0
    tests: list[Test] = []
    for group in ("base", "plus"):
        inputs = _inputs(record, f"{group}_input")
        if is_mbpp:
            inputs = convert_inputs(task_id, inputs)
        for index, arguments in enumerate(inputs):
            label = f"{group}/{index}"
            if is_mbpp and name in NOT_NONE_TASKS:
                tests.append(_not_none(name, arguments, reference, label, group))
                continue
            checker = _oracle(is_mbpp, name, arguments, tolerance)
            expected = None if _is_enough(checker) else EXPECTED_FROM_REFERENCE
            tests.append(
                CallTest(
                    name,
                    args=tuple(arguments),
                    expected=expected,
                    checker=checker or _equal(tolerance),
                    name=label,
                    group=group,
                )
            )
    if not tests:
        raise ValidationError("invalid base_input: expected at least one input, got none")
    return Task(
        id=task_id,
        tests=tuple(tests),
        prompt=prompt,
        prefix=prompt,
        entry_point=name,
        reference=reference,
    )


def _inputs(record: Fields, name: str) -> list[list[Any]]:
    # An empty object stands for no inputs in some editions.
    found = [] if record.any(name) == {} else record.items(name)
    for index, arguments in enumerate(found):
        if not isinstance(arguments, list):
            path = f"{name}[{index}]"
            raise ValidationError(
                f"invalid {path}: expected a list of arguments, got another value", parameter=path
            )
    return found


def _equal(tolerance: float) -> str:
    return f"equal(abs={tolerance or _FLOAT_TOLERANCE!r}, rel={_REL!r}, numbers=True)"


def _is_enough(oracle: ValueOracle | None) -> bool:
    """Return whether an oracle decides without an expected value."""
    return isinstance(oracle, AnyValue | PolynomialRoot)


def _oracle(
    is_mbpp: bool, name: str, arguments: Sequence[Any], tolerance: float
) -> ValueOracle | None:
    """Return the oracle of a test; None if its expected value is the only right one."""
    if not is_mbpp:
        return _polynomial(arguments, tolerance) if name == "find_zero" else None
    if name == "are_equivalent":
        return AnyValue()
    if name in SAME_ITEMS_TASKS:
        return SameItems()
    compute = _OTHER_ANSWERS.get(name)
    if compute is None:
        return None
    try:
        other = compute(*arguments)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        return None  # EvalPlus has no other answer for such arguments either
    return OtherValues((other,), _equal(tolerance))


def _polynomial(arguments: Sequence[Any], tolerance: float) -> PolynomialRoot:
    coefficients = arguments[0] if len(arguments) == 1 else None
    if not isinstance(coefficients, list) or not all(
        isinstance(one, int | float) for one in coefficients
    ):
        raise ValidationError(
            "invalid input of find_zero: expected one list of numbers, got another value"
        )
    return PolynomialRoot(tuple(coefficients), tolerance or _FLOAT_TOLERANCE)


def _other_surface(base: float, height: float) -> int:
    """Return a pyramid's surface whose height is that of the apex over the base."""
    slant = math.hypot(base / 2, height)
    return round(base * base + 2 * base * slant)


def _other_distance(first: int, second: int) -> int:
    """Return the sum of the differences of digits, of numbers filled up with zeros in front."""
    width = max(len(str(first)), len(str(second)))
    pairs = zip(str(first).zfill(width), str(second).zfill(width), strict=True)
    return sum(abs(int(a) - int(b)) for a, b in pairs)


_OTHER_ANSWERS: dict[str, Callable[..., object]] = {
    "digit_distance_nums": _other_distance,
    "sum_div": lambda *_arguments: 0,
    "surface_Area": _other_surface,
}


def _not_none(
    name: str, arguments: Sequence[Any], reference: str, label: str, group: str
) -> AssertTest:
    """Return the test of a function whose values, such as matches, are no plain data.

    The reference runs beside the assertion, as its value cannot be sent either.
    """
    source = f"""\
def check(candidate):
    names = {{}}
    exec({reference!r}, names)
    arguments = {tuple(arguments)!r}
    expected = names[{name!r}](*arguments) is not None
    actual = candidate(*arguments)
    if not isinstance(actual, bool):
        actual = actual is not None
    assert actual == expected
"""
    return AssertTest(source, entry_point=name, name=label, group=group)
