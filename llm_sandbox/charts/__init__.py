"""Charts as data: what a figure shows, whichever library drew it."""

from llm_sandbox.charts.axis import Axis
from llm_sandbox.charts.chart import Annotation, Chart
from llm_sandbox.charts.kinds import AxisScale, ChartKind, SeriesKind
from llm_sandbox.charts.series import Series, Value

__all__ = [
    "Annotation",
    "Axis",
    "AxisScale",
    "Chart",
    "ChartKind",
    "Series",
    "SeriesKind",
    "Value",
]
