"""An axis of a chart."""

from dataclasses import dataclass

from llm_sandbox.charts.kinds import AxisScale
from llm_sandbox.charts.series import Value
from llm_sandbox.charts.unit import find_unit
from llm_sandbox.host.terminal import strip_controls

__all__ = ["Axis"]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a chart."""

    label: str | None = None
    """Its title as the program gave it; None when it has none."""
    scale: AxisScale = AxisScale.LINEAR
    """How it places values; linear by default."""
    limits: tuple[Value, Value] | None = None
    """Where it begins and ends, the first being left or below; None when unknown, and for names."""
    ticks: tuple[Value, ...] = ()
    """The values marked on it; on a scale of names all names, in order."""
    tick_labels: tuple[str, ...] = ()
    """What is written at the ticks; empty when nothing is known of it."""

    @property
    def unit(self) -> str | None:
        """The unit that the label names in brackets, as in `Speed (m/s)`; None without one."""
        return find_unit(self.label) if self.label else None

    @property
    def name(self) -> str:
        """The label on one line, safe to print; empty when there is none."""
        return " ".join(strip_controls(self.label or "").split())
