"""Policies from files: TOML or JSON with the fields of a `SecurityPolicy`."""

import json
import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast, get_args

import pydantic

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.findings import SEVERITIES, Capability
from llm_sandbox.security.models import (
    RestrictedModule,
    SecurityIssueSeverity,
    SecurityPattern,
    SecurityPolicy,
)
from llm_sandbox.security.presets import PolicyPreset, get_security_policy

__all__ = ["find_policy", "load_policy"]

_PRESET = "preset"
_LISTS: Mapping[str, type[pydantic.BaseModel]] = {
    "patterns": SecurityPattern,
    "restricted_modules": RestrictedModule,
}


def load_policy(path: str | Path) -> SecurityPolicy:
    """Load a policy from a file.

    The file has the fields of `SecurityPolicy`, with severities by name. ``preset`` names a
    ready-made policy to start from: ``capabilities`` are changed one by one, lists are extended,
    and other fields are replaced. A policy without ``name`` is named after the file.

    Args:
        path: A file that ends in ``.toml`` or ``.json``.

    Raises:
        ValidationError: The file cannot be read, or does not describe a policy; the message names
            the file, the key and the values that are known.
    """
    path = Path(path)
    return _Reader(path).policy()


def find_policy(name: str) -> SecurityPolicy:
    """Return the policy of a preset name or of a path.

    Args:
        name: A preset, or a path that ends in ``.toml`` or ``.json``.

    Raises:
        ValidationError: There is no such preset, or the file does not describe a policy.
    """
    if name.lower().endswith((".toml", ".json")):
        return load_policy(name)
    return get_security_policy(cast(PolicyPreset, name))


class _Reader:
    """Reader of one policy file.

    Args:
        path: Path of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def policy(self) -> SecurityPolicy:
        data = self._data()
        self._check_keys(data, (_PRESET, *SecurityPolicy.model_fields), "")
        preset = data.pop(_PRESET, None)
        if preset is not None and preset not in get_args(PolicyPreset):
            raise self._unknown(_PRESET, preset, get_args(PolicyPreset))
        fields: dict[str, Any] = {}
        if preset is not None:
            base = get_security_policy(preset)
            fields = {name: getattr(base, name) for name in SecurityPolicy.model_fields}
        fields["name"] = self._path.stem
        for key, value in data.items():
            fields[key] = self._field(key, value, fields.get(key))
        try:
            return SecurityPolicy(**fields)
        except pydantic.ValidationError as error:
            raise self._invalid(error) from error

    def _data(self) -> dict[str, Any]:
        kind = self._path.suffix.lower()
        if kind not in (".toml", ".json"):
            raise ValidationError(
                f"the policy file {self._path} ends neither in .toml nor in .json",
                parameter="policy",
            )
        try:
            text = self._path.read_bytes().decode("utf-8-sig")
            data = tomllib.loads(text) if kind == ".toml" else json.loads(text)
        except OSError as error:
            raise self._error(f"cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise self._error(f"is not {kind[1:].upper()}: {error}") from error
        if not isinstance(data, dict):
            raise self._error("must hold an object with the policy's fields")
        return data

    def _field(self, key: str, value: object, base: Any) -> object:
        if key == "severity_threshold":
            return self._severity(key, value)
        if key == "capabilities":
            return {**(base or {}), **self._capabilities(value)}
        if key in _LISTS:
            return [*(base or ()), *self._entries(key, value)]
        if key == "allow":
            if not isinstance(value, list):
                raise self._error(f"{key}: must be a list of names")
            return [*(base or ()), *value]
        return value

    def _capabilities(self, value: object) -> dict[Capability, SecurityIssueSeverity]:
        if not isinstance(value, dict):
            raise self._error("capabilities: must be a table of severities by capability")
        self._check_keys(value, [str(capability) for capability in Capability], "capabilities.")
        return {
            Capability(name): self._severity(f"capabilities.{name}", severity)
            for name, severity in value.items()
        }

    def _entries(self, key: str, value: object) -> list[pydantic.BaseModel]:
        if not isinstance(value, list):
            raise self._error(f"{key}: must be a list of tables")
        made = []
        for number, entry in enumerate(value, start=1):
            name = f"{key}[{number}]"
            if not isinstance(entry, dict):
                raise self._error(f"{name}: must be a table")
            fields = dict(entry)
            self._check_keys(fields, _LISTS[key].model_fields, f"{name}.")
            if "severity" in fields:
                fields["severity"] = self._severity(f"{name}.severity", fields["severity"])
            try:
                made.append(_LISTS[key](**fields))
            except pydantic.ValidationError as error:
                raise self._invalid(error, f"{name}.") from error
        return made

    def _severity(self, key: str, value: object) -> SecurityIssueSeverity:
        if isinstance(value, str) and value.lower() in SEVERITIES:
            return SecurityIssueSeverity[value.upper()]
        # As pydantic writes them to JSON.
        if type(value) is int and 0 <= value < len(SEVERITIES):
            return SecurityIssueSeverity(value)
        raise self._unknown(key, value, SEVERITIES)

    def _check_keys(self, data: Mapping[str, object], known: Collection[str], within: str) -> None:
        for key in data:
            if key not in known:
                words = f"there is no key {within}{key}; known: {', '.join(known)}"
                raise self._error(words, _suggestion(key, known))

    def _unknown(self, key: str, value: object, known: Collection[str]) -> ValidationError:
        words = f"{key} cannot be {value!r}; known: {', '.join(known)}"
        return self._error(words, _suggestion(str(value), known))

    def _invalid(self, error: pydantic.ValidationError, within: str = "") -> ValidationError:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        key = within + ".".join(map(str, first["loc"]))
        return self._error(f"{key.rstrip('.')}: {first['msg']}")

    def _error(self, words: str, hint: str | None = None) -> ValidationError:
        message = f"the policy file {self._path}: {words}"
        return ValidationError(message, parameter="policy", hint=hint)


def _suggestion(word: str, known: Collection[str]) -> str | None:
    near = get_close_matches(word.lower(), known, 1)
    return f"did you mean {near[0]}?" if near else None
