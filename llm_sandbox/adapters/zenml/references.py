"""Settings that name a secret instead of holding it: ``{{name.key}}``."""

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
    """Which value of which secret is meant."""

    name: str
    """The secret."""
    key: str
    """The value in it."""


def is_secret_reference(value: object) -> bool:
    """Whether a value is text of the form ``{{name.key}}``."""
    return isinstance(value, str) and _REFERENCE.fullmatch(value.strip()) is not None


def parse_secret_reference(value: str) -> SecretReference:
    """Return what a reference names.

    Raises:
        ValidationError: The text is none.
    """
    match = _REFERENCE.fullmatch(value.strip())
    if match is None:
        raise ValidationError("not a reference like {{name.key}}", parameter="value")
    return SecretReference(match[1], match[2])


class SettingsModel(BaseModel):
    """A model whose fields take secret references where nothing else checks them.

    A field's ``json_schema_extra`` says more: ``{"sensitive": True}`` that it holds a secret,
    ``{"prevent_secret_reference": True}`` that it takes no reference.

    Args:
        warn_about_plain_text_secrets: Whether a sensitive field that holds the secret itself is
            warned of.
        kwargs: The fields.

    Raises:
        ValidationError: A reference is given to a field that takes none, or that a validator
            checks, which would see the reference and not the secret.
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
