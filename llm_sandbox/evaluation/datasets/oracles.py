"""Oracles: checkers of data sets that accept more than one answer.

An oracle is a checker with its data, so that a test with one is still data: it pickles, and files
of our format hold it (`oracle_to_json`). It runs on the host, on plain data that the host made.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from llm_sandbox.evaluation.comparison import Difference, find_checker
from llm_sandbox.evaluation.datasets.plain_values import value_from_json, value_to_json
from llm_sandbox.evaluation.value_comparison import equal, find_value_checker
from llm_sandbox.exceptions import ValidationError

__all__ = [
    "ORACLES",
    "AnyValue",
    "CaselessOutput",
    "Oracle",
    "OtherValues",
    "OutputOracle",
    "PolynomialRoot",
    "SameItems",
    "ValueOracle",
    "WrappedValue",
    "oracle_from_json",
    "oracle_to_json",
]


@dataclass(frozen=True)
class Oracle:
    """Base of the oracles."""

    kind: ClassVar[str]
    """Name of the oracle in files."""


@dataclass(frozen=True)
class ValueOracle(Oracle, ABC):
    """Base of the oracles of values, for `CallTest`."""

    @abstractmethod
    def __call__(self, expected: object, actual: object, /) -> Difference | None:
        """Compare an expected value with an actual one; return None if it is accepted."""


@dataclass(frozen=True)
class OutputOracle(Oracle, ABC):
    """Base of the oracles of outputs, for `StdioTest`."""

    @abstractmethod
    def __call__(self, expected: bytes, actual: bytes, /) -> Difference | None:
        """Compare an expected output with an actual one; return None if it is accepted."""


@dataclass(frozen=True)
class AnyValue(ValueOracle):
    """Acceptance of any value that is returned: the call must only end."""

    kind: ClassVar[str] = "any_value"

    def __call__(self, _expected: object, _actual: object) -> Difference | None:
        """Accept the value."""
        return None


@dataclass(frozen=True)
class OtherValues(ValueOracle):
    """Acceptance of the expected value, or of one of others.

    Args:
        values: The others.
        checker: Checker of each, ``equal`` with its options.
    """

    kind: ClassVar[str] = "other_values"

    values: tuple[Any, ...]
    checker: str = "equal"

    def __post_init__(self) -> None:
        find_value_checker(self.checker)

    def __call__(self, expected: object, actual: object) -> Difference | None:
        """Compare with the expected value, then with the others."""
        check = find_value_checker(self.checker)
        found = check(expected, actual)
        if found is None or any(check(value, actual) is None for value in self.values):
            return None
        return found


@dataclass(frozen=True)
class PolynomialRoot(ValueOracle):
    """Acceptance of any root of a polynomial; the expected value is of no account.

    Args:
        coefficients: The coefficients, of the lowest power first.
        tolerance: Largest absolute value of the polynomial at the root.
    """

    kind: ClassVar[str] = "polynomial_root"

    coefficients: tuple[float, ...]
    tolerance: float

    def __call__(self, _expected: object, actual: object) -> Difference | None:
        """Evaluate the polynomial at the actual value."""
        if isinstance(actual, bool) or not isinstance(actual, int | float):
            return Difference("value, type", "number", type(actual).__name__)
        try:
            x, value = float(actual), 0.0
            for coefficient in reversed(self.coefficients):
                value = value * x + coefficient
        except OverflowError:
            value = math.inf
        if abs(value) <= self.tolerance:  # false for NaN
            return None
        return Difference("polynomial at the value", "0", repr(value))


@dataclass(frozen=True)
class SameItems(ValueOracle):
    """Comparison of collections as sets: neither order nor repetition is of account."""

    kind: ClassVar[str] = "same_items"

    def __call__(self, expected: object, actual: object) -> Difference | None:
        """Compare the sets of the items."""
        found = equal(expected, actual)
        if found is None or not isinstance(actual, list | tuple | set | frozenset | dict | str):
            return found
        try:
            same = set(expected) == set(actual)  # type: ignore[call-overload]
        except TypeError:  # items, such as lists, that sets cannot hold
            return found
        return None if same else found


@dataclass(frozen=True)
class WrappedValue(ValueOracle):
    """Comparison with a value that may be expected as a list of it alone.

    Some tests of APPS and its kin hold the expected value, others a list with nothing else in it,
    and nothing tells which.

    Args:
        checker: Checker of either, ``equal`` with its options.
    """

    kind: ClassVar[str] = "wrapped_value"

    checker: str = "equal"

    def __post_init__(self) -> None:
        find_value_checker(self.checker)

    def __call__(self, expected: object, actual: object) -> Difference | None:
        """Compare with the expected value, then with its only item."""
        check = find_value_checker(self.checker)
        found = check(expected, actual)
        if found is None or not isinstance(expected, list) or len(expected) != 1:
            return found
        return None if check(expected[0], actual) is None else found


@dataclass(frozen=True)
class CaselessOutput(OutputOracle):
    """Comparison of outputs in small letters.

    Args:
        checker: Checker of what is left, such as ``tokens_float`` with its options.
    """

    kind: ClassVar[str] = "caseless_output"

    checker: str = "tokens"

    def __post_init__(self) -> None:
        find_checker(self.checker)

    def __call__(self, expected: bytes, actual: bytes) -> Difference | None:
        """Compare outputs; only ASCII letters lose their case."""
        return find_checker(self.checker)(expected.lower(), actual.lower())


ORACLES: dict[str, type[Oracle]] = {
    kind.kind: kind
    for kind in (AnyValue, OtherValues, PolynomialRoot, SameItems, WrappedValue, CaselessOutput)
}
"""Oracles by their names in files."""


def oracle_to_json(oracle: Oracle) -> dict[str, Any]:
    """Return an oracle as JSON; see `oracle_from_json`."""
    data = {
        field.name: value_to_json(getattr(oracle, field.name), field.name)
        for field in fields(oracle)
    }
    return {"oracle": oracle.kind, **data}


def oracle_from_json(record: Mapping[str, Any], base: type[Oracle]) -> Oracle:
    """Return the oracle of a JSON object.

    Args:
        record: ``{"oracle": name, ...}`` with the arguments of the oracle.
        base: `ValueOracle` or `OutputOracle`, as the test needs.

    Raises:
        ValidationError: There is no such oracle, or it has other arguments.
    """
    values = dict(record)
    name = values.pop("oracle", None)
    kind = ORACLES.get(name) if isinstance(name, str) else None
    if kind is None or not issubclass(kind, base):
        known = ", ".join(name for name, one in ORACLES.items() if issubclass(one, base))
        raise ValidationError(
            f"invalid oracle: expected one of {known}, got {name!r:.80}", parameter="checker"
        )
    decoded = {key: value_from_json(value, f"oracle.{key}") for key, value in values.items()}
    wanted = {field.name: field for field in fields(kind)}
    for key, value in decoded.items():
        if key not in wanted or not _fits(key, value):
            raise ValidationError(
                f"invalid oracle {kind.kind}: expected the fields {', '.join(wanted) or 'none'}, "
                f"got another or one of another type: {key!r:.80}",
                parameter="checker",
            )
    try:
        return kind(**decoded)
    except TypeError:
        raise ValidationError(
            f"invalid oracle {kind.kind}: expected the fields {', '.join(wanted)}, got fewer",
            parameter="checker",
        ) from None


def _fits(field: str, value: object) -> bool:
    if field == "checker":
        return isinstance(value, str)
    if field == "tolerance":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if field == "coefficients":
        return isinstance(value, tuple) and all(isinstance(one, int | float) for one in value)
    return isinstance(value, tuple)
