"""Members of each reference, and the claim for each backend: the tests prove it.

`references/NAME.toml` lists the members. One without `refused` works on every backend; `refused`
is the message, or one for each backend that refuses, with ``{backend}`` for its name. `data` marks
a member that no backend has a part in. `where` names what has to hold for a refusal (`WHERE`),
and `root` marks what only root can have on an engine, whose networks are entered for it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

BACKENDS: Final = ("local", "bubblewrap", "docker", "podman")
REFERENCES: Final = ("zenml", "sbx_agents", "modal")
ENGINES: Final = ("docker", "podman")
DATA: Final = "data"
"""Stands for the backend of a member that none has a part in."""
FOLDER: Final = Path(__file__).parent / "references"
KEYS: Final = {"name", "signature", "data", "refused", "where", "root"}


@dataclass(frozen=True)
class Member:
    """A name of a reference, or a parameter of it."""

    key: str
    name: str
    signature: str
    data: bool
    refused: dict[str, str]
    where: str | None
    root: bool


@dataclass(frozen=True)
class Cell:
    """A member on a backend."""

    reference: str
    member: Member
    backend: str

    @property
    def refusal(self) -> str | None:
        """What the refusal says; None where the member works."""
        return self.member.refused.get(self.backend)

    @property
    def key(self) -> str:
        """Unlike that of every other cell."""
        return f"{self.reference}/{self.member.key}/{self.backend}"


@dataclass(frozen=True)
class Reference:
    """An interface that we have a face for."""

    key: str
    title: str
    module: str
    members: tuple[Member, ...]

    def cells(self) -> Iterator[Cell]:
        """Every cell; backend by backend, so that what they share is made once."""
        for backend in (DATA, *BACKENDS):
            for member in self.members:
                if member.data is (backend == DATA):
                    yield Cell(self.key, member, backend)


def load(key: str) -> Reference:
    """Read a reference's members."""
    with (FOLDER / f"{key}.toml").open("rb") as file:
        found = tomllib.load(file)
    members = tuple(_member(name, facts) for name, facts in found.pop("members").items())
    return Reference(key, members=members, **found)


def parameters(key: str) -> list[Any]:
    """A reference's cells as parameters of a test: `BACKEND-MEMBER`."""
    return [
        pytest.param(
            cell,
            id=f"{cell.backend}-{cell.member.key}",
            marks=[pytest.mark.engine(cell.backend, image="python")]
            if cell.backend in ENGINES
            else [],
        )
        for cell in load(key).cells()
    ]


def _member(key: str, facts: dict[str, Any]) -> Member:
    assert facts.keys() <= KEYS, (key, facts.keys() - KEYS)
    refused = facts.get("refused", {})
    if isinstance(refused, str):
        refused = dict.fromkeys(BACKENDS, refused)
    assert refused.keys() <= set(BACKENDS), (key, refused)
    return Member(
        key,
        facts["name"],
        facts["signature"],
        facts.get("data", False),
        {name: message.replace("{backend}", name) for name, message in refused.items()},
        facts.get("where"),
        facts.get("root", False),
    )
