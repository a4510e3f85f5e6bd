"""Installation of the capture of plots and tables in a shell."""

from __future__ import annotations

from typing import Any

from . import (
    altair_capture,
    bokeh_capture,
    describe,
    matplotlib_hooks,
    media_capture,
    pillow_capture,
    plotly_capture,
    worker_processes,
)
from .session import Service, Session

__all__ = ["install"]

Answer = tuple[dict[str, Any], list[bytes]]

_MARK = "_llm_sandbox_session"


def install(shell: Any) -> dict[str, Service]:
    """Install the capture in a shell; see `shim.install`.

    Args:
        shell: The shell.

    Returns:
        Services by name.
    """
    if _MARK in vars(shell):
        installed: Session = vars(shell)[_MARK]
        return installed.services
    session = Session(shell)
    setattr(shell, _MARK, session)
    describe.install(session)
    matplotlib_hooks.install(session)
    plotly_capture.install(session)
    altair_capture.install(session)
    bokeh_capture.install(session)
    pillow_capture.install(session)
    media_capture.install(session)
    _offer_services(session)
    worker_processes.install()
    return session.services


def _offer_services(session: Session) -> None:
    """Register the services of variables and tables. A service that fails answers with ``failure``:
    a kind for programs, and a message.

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
