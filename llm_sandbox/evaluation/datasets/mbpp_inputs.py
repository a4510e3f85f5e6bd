"""Inputs of MBPP+ in their Python types, which JSON has lost.

For some tasks EvalPlus says which lists were tuples or sets, and which texts and numbers were
complex; the table here is that list.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from llm_sandbox.exceptions import ValidationError

__all__ = ["convert_inputs"]

_Convert: TypeAlias = Callable[[Any], Any]
_ConvertAll: TypeAlias = Callable[[Sequence[Any]], list[Any]]


def convert_inputs(task_id: str, inputs: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return inputs in the types that the function is called with.

    Args:
        task_id: Id of the task: ``Mbpp/2``.
        inputs: Arguments of each call, of JSON.

    Raises:
        ValidationError: The id has no number, or an input is not of the form of the task's.
    """
    number = task_id.rpartition("/")[2]
    if not number.isdecimal():
        raise ValidationError(
            f"invalid task_id: expected Mbpp/ and a number, got {task_id!r:.80}",
            parameter="task_id",
        )
    convert = _TABLE.get(int(number), list)
    try:
        return [convert(arguments) for arguments in inputs]
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise ValidationError(
            f"invalid input of {task_id}: expected the types of this task, got others"
        ) from None


def _each(convert: _Convert) -> _ConvertAll:
    """Convert every argument."""
    return lambda arguments: [convert(one) for one in arguments]


def _first(*converts: _Convert) -> _ConvertAll:
    """Convert the first arguments, each by its own; the others stay."""

    def run(arguments: Sequence[Any]) -> list[Any]:
        head = [convert(arguments[i]) for i, convert in enumerate(converts)]
        return [*head, *arguments[len(converts) :]]

    return run


def _same(value: Any) -> Any:
    return value


def _tuples(value: Any) -> list[Any]:
    return [tuple(item) for item in value]


def _tuple_of_tuples(value: Any) -> tuple[Any, ...]:
    return tuple(tuple(item) for item in value)


def _mixed_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(tuple(item) if isinstance(item, list) else item for item in value)


def _all_tuples(value: Any) -> Any:
    return tuple(_all_tuples(item) for item in value) if isinstance(value, list) else value


def _sets(value: Any) -> list[Any]:
    # An empty one is a dictionary there.
    return [set(item) if isinstance(item, list) and item else {} for item in value]


def _tuple_members(value: Any) -> dict[Any, Any]:
    return {key: tuple(item) for key, item in value.items()}


_GROUPS: tuple[tuple[_ConvertAll, tuple[int, ...]], ...] = (
    (_each(tuple), (2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560)),
    (_each(tuple), (579, 596, 616, 630, 726, 740, 744, 809)),
    (_each(_tuples), (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780)),
    (_each(_tuple_of_tuples), (259, 401, 445)),
    (_each(_all_tuples), (580, 615, 791)),
    (_each(_mixed_tuple), (278,)),
    (_first(_tuples), (75, 413, 444, 753)),
    (_first(tuple), (250, 307, 405, 446, 617, 720, 763, 808)),
    (_first(_same, tuple), (106, 750)),
    (_first(_sets), (115,)),
    (_first(float, complex), (124,)),
    (_first(complex), (252,)),
    (_first(_tuple_members), (722,)),
)
_TABLE: dict[int, _ConvertAll] = {
    number: convert for convert, numbers in _GROUPS for number in numbers
}
