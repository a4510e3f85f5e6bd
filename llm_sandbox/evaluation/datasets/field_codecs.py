"""Codecs of fields of tasks and tests: what JSON has for them, checked as it is read."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any, TypeAlias

from llm_sandbox.evaluation.comparison import find_checker
from llm_sandbox.evaluation.datasets.fields import check_text, mismatch
from llm_sandbox.evaluation.datasets.oracles import (
    Oracle,
    OutputOracle,
    ValueOracle,
    oracle_from_json,
    oracle_to_json,
)
from llm_sandbox.evaluation.datasets.plain_values import value_from_json, value_to_json
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.value_comparison import find_value_checker
from llm_sandbox.exceptions import ValidationError

__all__ = [
    "DATA",
    "FILES",
    "FLAG",
    "ID",
    "INTEGER",
    "LIMITS",
    "MEMBERS",
    "OPTIONAL_TEXT",
    "OUTPUT_CHECKER",
    "PROGRAM",
    "TEXT",
    "TEXTS",
    "TEXT_FILES",
    "VALUE",
    "VALUES",
    "VALUE_CHECKER",
    "VALUE_MEMBERS",
    "WEIGHT",
    "Codec",
    "choice",
]

Codec: TypeAlias = tuple[Callable[[str, Any], Any], Callable[[str, Any], Any]]
"""Reader and writer; each takes the name of the field, for errors, and a value."""


def _same(_name: str, value: Any) -> Any:
    return value


def _read_id(name: str, value: Any) -> str:
    found = check_text(name, value)
    if not found:
        raise ValidationError(f"invalid {name}: expected text, got an empty one", parameter=name)
    return found


def _read_optional_text(name: str, value: Any) -> str | None:
    return None if value is None else check_text(name, value)


def _read_weight(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise mismatch(name, "a number", value)
    if not 0 <= value < float("inf"):
        raise ValidationError(
            f"invalid {name}: expected a finite number from 0, got {value}", parameter=name
        )
    return value


def _read_flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise mismatch(name, "true or false", value)
    return value


def _read_integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise mismatch(name, "a whole number", value)
    return value


def _read_texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise mismatch(name, "a list of texts", value)
    return tuple(check_text(f"{name}[{i}]", item) for i, item in enumerate(value))


def _read_data(name: str, value: Any) -> str | bytes:
    found = value_from_json(value, name)
    return found if isinstance(found, bytes) else check_text(name, found)


def _read_files(name: str, value: Any) -> dict[str, str | bytes]:
    if not isinstance(value, Mapping):
        raise mismatch(name, "an object of files", value)
    return {
        check_text(f"a path of {name}", path): _read_data(f"{name}[{path!r:.80}]", content)
        for path, content in value.items()
    }


def _read_text_files(name: str, value: Any) -> dict[str, str | bytes]:
    found = _read_files(name, value)
    for path, content in found.items():
        check_text(f"{name}[{path!r:.80}]", content)
    return found


def _write_files(name: str, value: Mapping[str, Any]) -> Any:
    return {path: value_to_json(content, name) for path, content in value.items()}


def _read_values(name: str, value: Any) -> tuple[Any, ...]:
    found = value_from_json(value, name)
    if not isinstance(found, list | tuple):
        raise mismatch(name, "a list of arguments", found)
    return tuple(found)


def _write_values(name: str, value: Any) -> Any:
    return value_to_json(list(value), name)


def _read_members(name: str, value: Any) -> dict[str, Any]:
    found = value_from_json(value, name)
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise mismatch(name, "an object", found)
    return found


def _read_plain_members(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise mismatch(name, "an object", value)
    return dict(value)


def _write_members(name: str, value: Any) -> Any:
    return value_to_json(dict(value), name)


def _read_value(name: str, value: Any) -> Any:
    return value_from_json(value, name)


def _write_value(name: str, value: Any) -> Any:
    return value_to_json(value, name)


def _checker(base: type[Oracle], find: Callable[[str], object]) -> Codec:
    def read(name: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return oracle_from_json(value, base)
        text = check_text(name, value)
        find(text)
        return text

    return read, _write_checker


def _write_checker(name: str, value: Any) -> Any:
    if isinstance(value, Oracle):
        return oracle_to_json(value)
    if isinstance(value, str):
        return value
    raise ValidationError(
        f"invalid {name}: expected a text or an oracle, got a function, which a file cannot hold",
        parameter=name,
    )


def choice(*known: str, optional: bool = False) -> Codec:
    """Return the codec of one of some texts, or of null where it is optional."""

    def read(name: str, value: Any) -> str | None:
        if value is None and optional:
            return None
        if value not in known:
            raise ValidationError(
                f"invalid {name}: expected one of {', '.join(known)}, got another", parameter=name
            )
        return str(value)

    return read, _same


def _read_limits(name: str, value: Any) -> EvalLimits | None:
    if value is None:
        return None
    values = _read_plain_members(name, value)
    known = [field.name for field in fields(EvalLimits)]
    for key in values:
        if key not in known:
            raise ValidationError(
                f"invalid {name}: expected the fields {', '.join(known)}, got {key!r:.80}",
                parameter=name,
            )
    return EvalLimits(**values)


def _write_limits(_name: str, value: EvalLimits) -> Any:
    usual = asdict(EvalLimits())
    return {name: one for name, one in asdict(value).items() if one != usual[name]}


ID: Codec = (_read_id, _same)
TEXT: Codec = (check_text, _same)
OPTIONAL_TEXT: Codec = (_read_optional_text, _same)
TEXTS: Codec = (_read_texts, lambda _name, value: list(value))
DATA: Codec = (_read_data, _write_value)
FLAG: Codec = (_read_flag, _same)
INTEGER: Codec = (_read_integer, _same)
WEIGHT: Codec = (_read_weight, _same)
FILES: Codec = (_read_files, _write_files)
TEXT_FILES: Codec = (_read_text_files, _write_files)
VALUE: Codec = (_read_value, _write_value)
VALUES: Codec = (_read_values, _write_values)
VALUE_MEMBERS: Codec = (_read_members, _write_members)
MEMBERS: Codec = (_read_plain_members, lambda _name, value: dict(value))
LIMITS: Codec = (_read_limits, _write_limits)
OUTPUT_CHECKER: Codec = _checker(OutputOracle, find_checker)
VALUE_CHECKER: Codec = _checker(ValueOracle, find_value_checker)
PROGRAM: Codec = (check_text, _write_checker)
"""Source of a checker's program."""
