"""Import hooks that connect matplotlib and seaborn to the capture."""

from __future__ import annotations

import functools
import importlib
import sys
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from .figure_render import add_chart
from .imports import on_import
from .matplotlib_capture import MatplotlibCapture
from .session import Bundle, Session, plot_metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

_INLINE = "module://matplotlib_inline.backend_inline"


def install(session: Session) -> None:
    """Capture plots of matplotlib.

    Args:
        session: The session of the shell.
    """
    capture = MatplotlibCapture(session)
    # First in line: the hooks of matplotlib and of its inline backend draw open figures again.
    session.shell.events.callbacks["post_execute"].insert(0, capture.cell_end)
    on_import("matplotlib", _attach_charts)
    on_import("matplotlib.figure", functools.partial(_attach_figure, capture))
    on_import("matplotlib.pyplot", functools.partial(_attach_pyplot, capture))
    on_import("matplotlib.animation", functools.partial(_attach_animation, capture))
    inline = sys.modules.get("matplotlib_inline.backend_inline")
    if inline is not None:
        _attach_inline(capture, inline)
    on_import("seaborn._core.plot", functools.partial(_attach_seaborn, session))


def _attach_charts(module: ModuleType) -> None:
    """Load the chart readers: a program without matplotlib does not pay for them."""
    for name in ("calls", "library_calls"):
        importlib.import_module(f".charts.matplotlib.{name}", __package__).install(on_import)
    importlib.import_module(".charts.matplotlib.figure", __package__)


def _attach_figure(capture: MatplotlibCapture, module: ModuleType) -> None:
    """Wrap the methods of figures that display or save."""
    kind: Any = module.Figure
    capture.session.handlers[kind] = capture.display
    original = kind.savefig

    @functools.wraps(original)
    def savefig(figure: Any, fname: Any, **kwargs: Any) -> Any:
        return capture.save(original, figure, fname, kwargs)

    @functools.wraps(kind.show)
    def show(figure: Any, warn: bool = True) -> None:
        capture.capture(figure, "show")

    kind.savefig = savefig
    kind.show = show


def _attach_pyplot(capture: MatplotlibCapture, module: ModuleType) -> None:
    """Replace ``plt.show``."""
    original = module.show

    @functools.wraps(original)
    def show(*args: Any, **kwargs: Any) -> None:
        capture.show(kwargs.get("close"), kwargs.get("block"))

    module.show = show  # type: ignore[attr-defined]
    for name in ("matplotlib.pylab", "pylab"):
        pylab = sys.modules.get(name)
        if pylab is not None and vars(pylab).get("show") is original:
            pylab.show = show  # type: ignore[attr-defined]


def _attach_animation(capture: MatplotlibCapture, module: ModuleType) -> None:
    """Exclude the frames of an animation from the captured plots."""
    original: Callable[..., AbstractContextManager[Any]] = module.AbstractMovieWriter.saving

    @functools.wraps(original)
    @contextmanager
    def saving(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with capture.session.quietly(), original(*args, **kwargs) as writer:
            yield writer

    module.AbstractMovieWriter.saving = saving


def _attach_inline(capture: MatplotlibCapture, module: ModuleType) -> None:
    """Set the formats and settings of an inline backend that was loaded before the shell."""
    import matplotlib

    shell = capture.session.shell
    backend = matplotlib.rcParams["backend"]
    if backend not in ("inline", _INLINE):
        return
    if hasattr(shell, "_saved_rcParams"):
        return  # it was loaded inside this shell and has configured it
    pylabtools: Any = importlib.import_module("IPython.core.pylabtools")
    pylabtools.activate_matplotlib(backend)
    module.configure_inline_support(shell, backend)
    settings = module.InlineBackend.instance()
    # The backend skips this when it was configured for another shell of the process.
    options = settings.print_figure_kwargs
    pylabtools.select_figure_formats(shell, settings.figure_formats, **options)


def _attach_seaborn(session: Session, module: ModuleType) -> None:
    """Annotate ``seaborn.objects`` plots, which draw themselves outside of pyplot."""
    drawn: list[Any] = []

    def note(name: str) -> None:
        original = getattr(module.Plotter, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def draw(plotter: Any) -> Any:
            result = original(plotter)
            if result is not None:
                drawn[:] = [getattr(plotter, "_figure", None)]
            return result

        setattr(module.Plotter, name, draw)

    for name in ("_repr_png_", "_repr_svg_"):
        note(name)

    def display(plot: Any, include: Any, exclude: Any) -> Bundle:
        drawn.clear()
        with session.quietly():
            data, metadata = session.plain_format(plot, include, exclude)
        if drawn:
            add_chart(drawn.pop(), data)
        return data, {**metadata, **plot_metadata("seaborn", "show")}

    session.handlers[module.Plot] = display
