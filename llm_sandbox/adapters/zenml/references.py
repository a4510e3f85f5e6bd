"""Secret references in settings: ``{{name.key}}``."""

import logging
import re
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from llm_sandbox.exceptions import ValidationError

__all__ = [
    "SecretReference",
    "SettingsModel",
    "is_secret_reference",
    "parse_secret_reference",
]

logger = logging.getLogger(__name__)

_REFERENCE = re.compile(r"\{\{\s*([^\s{}]+?)\.([^\s{}]+)\s*\}\}")


class SecretReference(NamedTuple):
    """Reference to one value of a secret."""

    name: str
    """Name of the secret."""
    key: str
    """Key of the value in the secret."""


def is_secret_reference(value: object) -> bool:
    """Return whether a value is text of the form ``{{name.key}}``."""
    return isinstance(value, str) and _REFERENCE.fullmatch(value.strip()) is not None


def parse_secret_reference(value: str) -> SecretReference:
    """Parse a secret reference.

    Raises:
        ValidationError: The text is not a secret reference.
    """
    match = _REFERENCE.fullmatch(value.strip())
    if match is None:
        raise ValidationError("not a reference like {{name.key}}", parameter="value")
    return SecretReference(match[1], match[2])


class SettingsModel(BaseModel):
    """Model whose fields accept secret references unless a validator checks them.

    In ``json_schema_extra`` of a field, ``{"sensitive": True}`` marks a secret, and
    ``{"prevent_secret_reference": True}`` refuses references.

    Args:
        warn_about_plain_text_secrets: Whether to warn about a sensitive field with a plain value.
        kwargs: Values of the fields.

    Raises:
        ValidationError: A reference is given for a field that refuses them, or whose validator
            would see the reference and not the secret.
    """

    model_config = ConfigDict(extra="forbid")

    def __init__(self, warn_about_plain_text_secrets: bool = False, **kwargs: Any) -> None:
        cls = type(self)
        for name, value in kwargs.items():
            field = cls.model_fields.get(name)
            if field is None or value is None:
                continue
            if is_secret_reference(value):
                _check_reference(cls, name, field)
            elif warn_about_plain_text_secrets and _marked(field, "sensitive"):
                logger.warning(
                    "%s.%s holds a secret as plain text: write {{name.key}} instead",
                    cls.__name__,
                    name,
                )
        super().__init__(**kwargs)


def _marked(field: FieldInfo, mark: str) -> bool:
    extra = field.json_schema_extra
    return isinstance(extra, dict) and extra.get(mark) is True


def _check_reference(cls: type[BaseModel], name: str, field: FieldInfo) -> None:
    found = cls.__pydantic_decorators__
    validators = [one.info.fields for one in found.field_validators.values()]
    validators += [one.info.fields for one in found.validators.values()]
    checked = any(name in fields or "*" in fields for fields in validators)
    if checked or _marked(field, "prevent_secret_reference"):
        why = "it is checked by a validator" if checked else "it is read as plain text"
        raise ValidationError(
            f"{cls.__name__}.{name} takes no secret reference: {why}", parameter=name
        )
