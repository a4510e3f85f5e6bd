"""Charts: the data of figures, whichever library drew them."""

from llm_sandbox.results.charts.chart import Annotation, Chart
from llm_sandbox.results.charts.kinds import AxisScale, ChartKind, SeriesKind
from llm_sandbox.results.charts.series import Axis, Series, Value

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
