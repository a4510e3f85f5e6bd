"""Every member of sbx-agents' sandboxes on every backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.matrix.reference import Cell, load, parameters
from tests.matrix.sbx_agents_builtin import probe
from tests.matrix.sbx_agents_probes import Agents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="module")
def face_of(_registry: None) -> Iterator[Callable[[str], Agents]]:
    yield from probe.faces(Agents)


@pytest.mark.sampled
@pytest.mark.parametrize("cell", parameters("sbx_agents"))
def test_member(cell: Cell, face_of: Callable[[str], Agents]) -> None:
    """The cell is as the page says."""
    probe.check(cell, face_of)


def test_each_member_has_a_probe() -> None:
    assert {member.key for member in load("sbx_agents").members} == set(probe)
