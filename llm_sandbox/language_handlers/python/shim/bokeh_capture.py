"""Capture of Bokeh documents: one display with HTML and the document per figure and state."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from weakref import ref

from .imports import on_import

if TYPE_CHECKING:
    from types import ModuleType

    from .session import Bundle, Session

_SOURCE = "bokeh"
_JSON = "application/vnd.bokeh.document+json"


def describe_models(models: Sequence[Any], figures: Sequence[Any]) -> str:
    """Return a short text for displayed models.

    Args:
        models: The displayed models.
        figures: The figures in them.

    Returns:
        One line naming the glyphs and the first title.
    """
    glyphs: dict[str, None] = {}
    for figure in figures:
        for renderer in getattr(figure, "renderers", ()):
            glyphs.setdefault(type(getattr(renderer, "glyph", renderer)).__name__)
    text = ", ".join(glyphs)[:80]
    count = f"{len(figures)} figure{'' if len(figures) == 1 else 's'}"
    title = next((t for f in figures if (t := getattr(f.title, "text", f.title))), None)
    text = f"<bokeh {type(models[0]).__name__}: {count}" + (f" ({text})" if text else "")
    return f"{text}, title {str(title)[:60]!r}>" if title else f"{text}>"


class BokehCapture:
    """Capture of bokeh for one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        # By id, with references that tell whether the ids are still theirs.
        self._captured: dict[tuple[int, ...], tuple[list[ref[Any]], bytes]] = {}
        self._cell = -1
        self._busy = False

    @contextmanager
    def _suppressed(self) -> Iterator[None]:
        """Suppress the capture inside the block."""
        before, self._busy = self._busy, True
        try:
            yield
        finally:
            self._busy = before

    def attach_show(self, module: ModuleType) -> None:
        """Replace the end of ``show``, which would open a browser.

        Args:
            module: ``bokeh.io.showing``.
        """
        target: Any = module

        def show_with_state(
            obj: Any, state: Any, browser: Any, new: Any, notebook_handle: bool = False
        ) -> None:
            if state.file:
                with self._suppressed():
                    target.save(obj, state=state)
            self.capture(obj, "show")

        target._show_with_state = show_with_state

    def attach_save(self, module: ModuleType) -> None:
        """Wrap the end of ``save``.

        Args:
            module: ``bokeh.io.saving``.
        """
        target: Any = module
        original = target._save_helper

        @functools.wraps(original)
        def save_helper(obj: Any, *args: Any, **kwargs: Any) -> None:
            busy = self._busy
            with self._suppressed():
                original(obj, *args, **kwargs)
            if not busy and not self._session.quiet:
                # The file is written: nothing that fails from here on is the program's fault.
                with suppress(Exception):
                    self.capture(obj, "savefig")

        target._save_helper = save_helper

    def attach_notebook(self, module: ModuleType) -> None:
        """Keep ``output_notebook`` from displaying its scripts.

        Args:
            module: ``bokeh.io.notebook``.
        """
        target: Any = module

        @functools.wraps(target.load_notebook)
        def load_notebook(resources: Any = None, *args: Any, **kwargs: Any) -> None:
            target._NOTEBOOK_LOADED = resources

        known = target._HOOKS.get("jupyter")
        if known is not None and known["load"] is target.load_notebook:
            known["load"] = load_notebook
        target.load_notebook = load_notebook

    def attach_document(self, module: ModuleType) -> None:
        """Capture figures that are added to the current document, as programs for a Bokeh server
        do.

        Args:
            module: ``bokeh.document.document``.
        """
        original = module.Document.add_root

        @functools.wraps(original)
        def add_root(document: Any, model: Any, *args: Any, **kwargs: Any) -> None:
            busy = self._busy
            with self._suppressed():
                original(document, model, *args, **kwargs)
            if not busy and _is_current(document):
                with suppress(Exception):
                    self.capture(model, "show")

        module.Document.add_root = add_root

    def attach_layouts(self, module: ModuleType) -> None:
        """Display figures that are the value of a cell.

        Args:
            module: ``bokeh.models.layouts``.
        """
        self._session.handlers[module.LayoutDOM] = self.display

    def display(self, model: Any, include: Any, exclude: Any) -> Bundle | None:
        """Publish a model that IPython displays.

        Args:
            model: The model.
            include: Ignored: the bundle is always whole.
            exclude: Ignored likewise.

        Returns:
            An empty bundle; ``None`` for a model without figures.
        """
        if not _figures([model]):
            return None
        self.capture(model, "show")
        return {}, {}

    def capture(self, obj: Any, event: str) -> None:
        """Publish models unless this state of the models was published in this cell already.

        Args:
            obj: A model, or several.
            event: Event that published the models.
        """
        from bokeh.embed import file_html
        from bokeh.resources import CDN

        models = list(obj) if isinstance(obj, Sequence) else [obj]
        if not models:
            return
        with self._suppressed():
            document = _document_of(models)
            # The rest of a document is new each time.
            state = json.dumps(document.get("roots"), default=repr)
            if not self._is_new(models, state):
                return
            title = str(document.get("title") or "Bokeh Plot")
            html = file_html(models if len(models) > 1 else models[0], CDN, title, _always_new=True)
        figures = _figures(models)
        data = {_JSON: document, "text/html": html, "text/plain": describe_models(models, figures)}
        _add_chart(models, data)
        self._session.publish(data, {}, _SOURCE, event)

    def _is_new(self, models: list[Any], text: str) -> bool:
        if self._cell != self._session.cell:
            self._cell = self._session.cell
            self._captured.clear()
        key = tuple(map(id, models))
        state = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
        known = self._captured.get(key)
        self._captured[key] = ([ref(model) for model in models], state)
        if known is None or known[1] != state:
            return True
        return any(past() is not model for past, model in zip(known[0], models, strict=True))


def _is_current(document: Any) -> bool:
    io = sys.modules.get("bokeh.io.doc")
    return io is not None and io.curdoc() is document


def _figures(models: Sequence[Any]) -> list[Any]:
    """Return the figures in models."""
    plots = sys.modules.get("bokeh.models.plots")
    found: dict[int, Any] = {}
    for model in models:
        for part in model.references() if plots is not None else ():
            if plots is not None and isinstance(part, plots.Plot):
                found.setdefault(id(part), part)
    # References are a set; ids grow as models are made.
    return sorted(found.values(), key=lambda figure: (len(figure.id), figure.id))


def _document_of(models: list[Any]) -> dict[str, Any]:
    """Return models as a document of JSON values."""
    from bokeh.embed.util import OutputDocumentFor
    from bokeh.settings import settings

    # What is wrong with a document is said once, when its HTML is made.
    settings.perform_document_validation.set_value(False)
    try:
        with OutputDocumentFor(models, always_new=True) as document:
            found: dict[str, Any] = dict(document.to_json(deferred=False))
    finally:
        settings.perform_document_validation.unset_value()
    return found


def _add_chart(models: list[Any], data: dict[str, Any]) -> None:
    """Add the chart record to the bundle; models that cannot be read are published without."""
    from .charts.bokeh.figure import bokeh_chart
    from .charts.record import CHART_MIME

    try:
        chart = bokeh_chart(models)
    except Exception:  # noqa: BLE001 - models hold whatever the user put there
        return
    if chart is not None:
        data[CHART_MIME] = chart


def install(session: Session) -> None:
    """Capture plots of bokeh.

    Args:
        session: The session of the shell.
    """
    capture = BokehCapture(session)
    on_import("bokeh.io.showing", capture.attach_show)
    on_import("bokeh.io.saving", capture.attach_save)
    on_import("bokeh.io.notebook", capture.attach_notebook)
    on_import("bokeh.document.document", capture.attach_document)
    on_import("bokeh.models.layouts", capture.attach_layouts)
