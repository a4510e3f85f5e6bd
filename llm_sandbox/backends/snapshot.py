"""A saved sandbox, as a name for it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from llm_sandbox.exceptions import ValidationError

__all__ = ["Snapshot"]


@dataclass(frozen=True)
class Snapshot:
    """A saved sandbox, from which others can be made where it was saved."""

    backend: str
    """Name of the backend."""
    engine: str
    """Identity of the engine: others do not have it."""
    image: str
    """Id of the image that it is."""
    name: str
    """Name of that image."""

    def to_dict(self) -> dict[str, str]:
        """Return it as JSON-able data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> "Snapshot":
        """Read what `to_dict` returned.

        Raises:
            ValidationError: It is something else.
        """
        values = {field.name: data.get(field.name) for field in fields(cls)}
        if set(data) != set(values) or not all(isinstance(v, str) for v in values.values()):
            raise ValidationError("not the data of a snapshot", parameter="image")
        return cls(**{name: str(value) for name, value in values.items()})
