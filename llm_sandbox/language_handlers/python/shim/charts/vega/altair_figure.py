"""Altair charts as chart records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .chart import vega_lite_chart

if TYPE_CHECKING:
    from ..record import Record

__all__ = ["altair_chart"]


def altair_chart(spec: dict[str, Any]) -> Record | None:
    """Read a chart.

    Args:
        spec: Its specification, as ``to_dict`` gives it.

    Returns:
        Its record; ``None`` when it cannot be read.
    """
    try:
        return vega_lite_chart(spec)
    except Exception:  # noqa: BLE001 - no chart rather than a broken run
        return None
