"""Every member of Modal's `Sandbox` on every backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox.adapters import modal
from tests.matrix.modal_creation import probe
from tests.matrix.modal_probes import Modal
from tests.matrix.reference import Cell, load, parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="module")
def face_of(_registry: None) -> Iterator[Callable[[str], Modal]]:
    before = modal.configure()
    yield from probe.faces(Modal)
    modal.configure(**vars(before))


@pytest.mark.sampled
@pytest.mark.parametrize("cell", parameters("modal"))
def test_member(cell: Cell, face_of: Callable[[str], Modal]) -> None:
    """The cell is as the page says."""
    probe.check(cell, face_of)


def test_each_member_has_a_probe() -> None:
    assert {member.key for member in load("modal").members} == set(probe)
