"""Probes: one small program for each member, which is right if the member does what it says."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

import pytest
from pydantic import ValidationError

from llm_sandbox.exceptions import SandboxError
from tests.matrix.reference import DATA, ENGINES, Cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox import Snapshot


class Shared(Protocol):
    """What the cells of a backend share, such as a sandbox."""

    def use(self) -> None:
        """Called before each of them."""

    def close(self) -> None:
        """Called in the end."""


Face = TypeVar("Face", bound=Shared)
Probe = TypeVar("Probe", bound=Callable[..., object])

REFUSALS: Final = (SandboxError, NotImplementedError, ValidationError)
"""What may be raised: ours, Python's own for what is not there, pydantic's for settings."""

WHERE: Final[dict[str, Callable[[], bool]]] = {
    "no GPU": lambda: not any(Path("/dev").glob("nvidia[0-9]*")),
}
"""What a refusal may depend on, by the words for it."""


class Probes(Generic[Face]):
    """The probes of a reference; each takes what the cells of a backend share."""

    def __init__(self) -> None:
        self._found: dict[str, Callable[..., object]] = {}
        self._outcomes: dict[tuple[Callable[..., object], str], BaseException | None] = {}

    def __call__(self, *members: str) -> Callable[[Probe], Probe]:
        """Make a function the probe of members."""

        def register(probe: Probe) -> Probe:
            for member in members:
                assert member not in self._found, member
                self._found[member] = probe
            return probe

        return register

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def faces(self, make: Callable[[str], Face]) -> Iterator[Callable[[str], Face]]:
        """Yield what returns the face of a backend, made once; in the end all are closed."""
        made: dict[str, Face] = {}

        def face_of(backend: str) -> Face:
            if backend not in made:
                made[backend] = make(backend)
            made[backend].use()
            return made[backend]

        with contextlib.ExitStack() as closing:
            yield face_of
            for face in made.values():
                closing.callback(face.close)

    def check(self, cell: Cell, face_of: Callable[[str], Face]) -> None:
        """Prove a cell: the probe is right, or ends with the refusal that is declared.

        The same probe runs either way, so what is refused would work if it were not.
        """
        where = cell.member.where
        if cell.refusal is not None and where is not None and not WHERE[where]():
            pytest.skip(f"the refusal is for where there is {where}")
        if cell.member.root and cell.backend in ENGINES and os.geteuid() != 0:
            pytest.skip(f"{cell.backend}: only root can enter the network of a container")
        outcome = self._outcome(self._found[cell.member.key], cell.backend, face_of)
        if cell.refusal is None and outcome is not None:
            raise outcome
        if cell.refusal is not None:
            assert isinstance(outcome, REFUSALS), f"refused by {outcome!r}"
            assert cell.refusal in " ".join(str(outcome).split())

    def _outcome(
        self, probe: Callable[..., object], backend: str, face_of: Callable[[str], Face]
    ) -> BaseException | None:
        """What a probe raises on a backend; one that shows several members runs once."""
        key = probe, backend
        if key not in self._outcomes:
            given = () if backend == DATA else (face_of(backend),)
            try:
                probe(*given)
                self._outcomes[key] = None
            except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - raised by who asks
                self._outcomes[key] = error
        return self._outcomes[key]


def forget(saved: Snapshot) -> None:
    """Remove a snapshot; else it is kept for whoever restores it later."""
    saved.delete()
