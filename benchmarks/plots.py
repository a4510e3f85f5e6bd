"""Races of the first plot of a session, and the cost of capturing; a plot counts when there is a
PNG.
"""

import base64
import statistics
import time
from collections.abc import Mapping

from benchmarks import ours
from benchmarks.race import CorrectnessError, Race, Row, Target
from benchmarks.stock import StockKernel

__all__ = ["races"]

_PLOT = """
import matplotlib.pyplot as plt
plt.plot([1, 4, 9, 16], label="squares")
plt.title("A title")
plt.legend()
plt.show()
"""
_CAPTURE = """
import io, time
import matplotlib.pyplot as plt

def draw():
    figure, axes = plt.subplots()
    for shift in range(3):
        axes.plot([(shift + i) % 7 for i in range(100)], label=f"series {shift}")
    axes.set_title("A title")
    axes.legend()
    return figure

def rendered():
    figure = draw()
    started = time.perf_counter()
    figure.canvas.print_figure(
        io.BytesIO(), format="png", dpi=figure.dpi, facecolor=figure.get_facecolor(),
        edgecolor=figure.get_edgecolor(), bbox_inches="tight",
    )
    taken = time.perf_counter() - started
    plt.close(figure)
    return taken

def captured():
    draw()
    started = time.perf_counter()
    plt.show()
    return time.perf_counter() - started

rendered(), captured()
print(min(rendered() for _ in range(3)), min(captured() for _ in range(3)))
"""
_PNG = b"\x89PNG\r\n\x1a\n"


def _check(images: list[str], whose: str) -> None:
    if len(images) != 1 or not base64.b64decode(images[0]).startswith(_PNG):
        raise CorrectnessError(f"{whose} drew {len(images)} images, or one that is no PNG")


def _ours() -> Mapping[str, float]:
    with ours.new_session() as session:
        ours.checked_run(session, "print(1)", "1\n")
        times = []
        for _ in range(2):
            started = time.perf_counter()
            result = session.run(_PLOT)
            times.append(time.perf_counter() - started)
            _check([plot.content_base64 for plot in result.plots], "our session")
    return {"first": times[0], "later": times[1]}


def _stock() -> Mapping[str, float]:
    with StockKernel() as kernel:
        kernel.run("print(1)")
        times = []
        for _ in range(2):
            started = time.perf_counter()
            messages = kernel.run(_PLOT)
            times.append(time.perf_counter() - started)
            images = [
                m["content"]["data"]["image/png"]
                for m in messages
                if m["msg_type"] == "display_data"
            ]
            _check(images, "the stock kernel")
    return {"first": times[0], "later": times[1]}


def _capture() -> Mapping[str, float]:
    with ours.new_session() as session:
        result = session.run(_CAPTURE)
        if len(result.plots) != 4 or len(result.charts) == 0:
            raise CorrectnessError(f"captured {len(result.plots)} plots: {result}")
        rendered, captured = map(float, result.stdout.split())
        times = [session.run("x = 1").usage.phases["collect"] for _ in range(20)]
    return {"rendered": rendered, "captured": captured, "nothing": statistics.median(times)}


def races() -> list[Race]:
    """Return the races of this theme."""
    return [
        Race(
            name="plots",
            lanes={"ours": _ours, "stock": _stock},
            rows=(
                Row("first plot of a session", "ours.first", "stock.first", Target("times", 3)),
                Row("later plot", "ours.later", "stock.later"),
            ),
            rounds=9,
            quick_rounds=3,
            prepare=ours.settle,
        ),
        Race(
            name="capture",
            lanes={"ours": _capture},
            rows=(
                Row(
                    "a figure captured with its data",
                    "ours.captured",
                    "ours.rendered",
                    Target("share", 1.15),
                    compared_with="its rendering alone",
                ),
                Row("looking for what a cell left", "ours.nothing", None, Target("below", 0.001)),
            ),
            rounds=7,
            quick_rounds=2,
            prepare=ours.settle,
        ),
    ]
