"""What the host may ask of an interpreter between cells.

A service that cannot do what it was asked answers with ``failure``: a kind for programs, and words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .session import Session

Answer = tuple[dict[str, Any], list[bytes]]


def install(session: Session) -> None:
    """Offer the services of variables and tables.

    Args:
        session: The session of the shell.
    """

    # Their code is loaded by the first request: most sessions never see one.
    def variables(arguments: dict[str, Any], buffers: list[memoryview]) -> Answer:
        from .variables import list_variables

        return list_variables(session.shell, arguments), []

    def get(arguments: dict[str, Any], buffers: list[memoryview]) -> Answer:
        from .variables import get_variable

        return get_variable(session.shell, arguments)

    def set(arguments: dict[str, Any], buffers: list[memoryview]) -> Answer:
        from .variables import set_variable

        return set_variable(session.shell, arguments, buffers), []

    def table(arguments: dict[str, Any], buffers: list[memoryview]) -> Answer:
        from .exports import export

        return export(session.handles, arguments)

    session.services.update(variables=variables, get=get, set=set, table=table)
