"""Every member of ZenML's sandboxes on every backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.matrix.reference import Cell, load, parameters
from tests.matrix.zenml_probes import Zenml
from tests.matrix.zenml_sessions import probe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="module")
def face_of(_registry: None) -> Iterator[Callable[[str], Zenml]]:
    yield from probe.faces(Zenml)


@pytest.mark.sampled
@pytest.mark.parametrize("cell", parameters("zenml"))
def test_member(cell: Cell, face_of: Callable[[str], Zenml]) -> None:
    """The cell is as the page says."""
    probe.check(cell, face_of)


def test_each_member_has_a_probe() -> None:
    assert {member.key for member in load("zenml").members} == set(probe)
