"""Capture of Altair charts: one display with the specification and a full HTML document per chart
and state.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any
from weakref import ref

from .imports import on_import

if TYPE_CHECKING:
    from types import ModuleType

    from .session import Bundle, Session

_SOURCE = "altair"
_MIME = "application/vnd.vegalite.v6+json"
_PARTS = ("layer", "hconcat", "vconcat", "concat")


def describe_chart(spec: dict[str, Any], kind: str) -> str:
    """Return a short text for a chart; altair's own repr is not informative.

    Args:
        spec: The specification.
        kind: Name of the chart's class.

    Returns:
        One line naming the marks and the title.
    """
    marks = ", ".join(dict.fromkeys(_marks(spec)))
    title = spec.get("title")
    title = title.get("text") if isinstance(title, dict) else title
    text = f"<altair {kind}: {marks[:80] or 'no mark'}"
    return f"{text}, title {str(title)[:60]!r}>" if title else f"{text}>"


def _marks(spec: dict[str, Any], depth: int = 0) -> list[str]:
    if depth > 8:
        return []
    found = []
    mark = spec.get("mark")
    if mark is not None:
        found.append(str(mark.get("type") if isinstance(mark, dict) else mark))
    for name in _PARTS:
        for part in spec.get(name) or ():
            found += _marks(part, depth + 1)
    inner = spec.get("spec")
    return found + (_marks(inner, depth + 1) if isinstance(inner, dict) else [])


class AltairCapture:
    """Capture of altair for one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        # By id, with a reference that tells whether the id is still theirs.
        self._captured: dict[int, tuple[ref[Any], bytes]] = {}
        self._cell = -1
        self._mixin: type | None = None

    def attach(self, module: ModuleType) -> None:
        """Capture charts wherever they are displayed or saved.

        Args:
            module: ``altair``.
        """
        bases = module.Chart.__mro__
        mixin = next(base for base in bases if base.__name__ == "TopLevelMixin")
        self._mixin = mixin
        self._session.handlers[mixin] = self.display
        self._attach_show(mixin)
        self._attach_save(mixin)

    def _attach_show(self, mixin: Any) -> None:
        original = mixin.show

        @functools.wraps(original)
        def show(chart: Any, *args: Any, **kwargs: Any) -> None:
            # No renderer is asked: they open browsers and print scripts.
            if not self.capture(chart, "show"):
                original(chart, *args, **kwargs)

        mixin.show = show

    def _attach_save(self, mixin: Any) -> None:
        original = mixin.save

        @functools.wraps(original)
        def save(chart: Any, fp: Any, *args: Any, **kwargs: Any) -> None:
            original(chart, fp, *args, **kwargs)
            if isinstance(fp, (str, os.PathLike)) and not self._session.quiet:
                self.capture(chart, "savefig")

        mixin.save = save

    def display(self, chart: Any, include: Any, exclude: Any) -> Bundle | None:
        """Publish a chart that IPython displays.

        Args:
            chart: The chart.
            include: Ignored: the bundle is always whole.
            exclude: Ignored likewise.

        Returns:
            An empty bundle; ``None`` to let altair report an invalid chart.
        """
        return ({}, {}) if self.capture(chart, "show") else None

    def capture(self, chart: Any, event: str) -> bool:
        """Publish a chart unless this state of the chart was published in this cell already.

        Args:
            chart: The chart.
            event: Event that published the chart.

        Returns:
            Whether the chart is valid.
        """
        try:
            spec = self._specification(chart, event)
            text = json.dumps(spec, sort_keys=True)
        except Exception:  # noqa: BLE001 - altair itself reports it, in its own words
            return False
        if self._is_new(chart, text):
            data = {
                _mime(): spec,
                "text/html": _page(spec),
                "text/plain": describe_chart(spec, type(chart).__name__),
            }
            _add_chart(spec, data)
            self._session.publish(data, {}, _SOURCE, event)
        return True

    def _specification(self, chart: Any, event: str) -> dict[str, Any]:
        altair = sys.modules["altair"]
        if event == "savefig":
            # Files hold all rows, however many they are.
            with altair.data_transformers.disable_max_rows():
                spec: dict[str, Any] = chart.to_dict()
                return spec
        return dict(chart.to_dict())

    def _is_new(self, chart: Any, text: str) -> bool:
        if self._cell != self._session.cell:
            self._cell = self._session.cell
            self._captured.clear()
        state = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
        known = self._captured.get(id(chart))
        self._captured[id(chart)] = (ref(chart), state)
        return known is None or known[0]() is not chart or known[1] != state


def _version(name: str) -> str | None:
    return getattr(sys.modules["altair"], name, None)


def _mime() -> str:
    """Return the MIME type that this version of altair gives its specifications."""
    for name, module in list(sys.modules.items()):
        if name.startswith("altair.vegalite.v") and name.endswith(".display"):
            return str(getattr(module, "VEGALITE_MIME_TYPE", _MIME))
    return _MIME


def _page(spec: dict[str, Any]) -> str:
    from altair.utils.html import spec_to_html

    page: str = spec_to_html(
        spec,
        mode="vega-lite",
        vega_version=_version("VEGA_VERSION"),
        vegaembed_version=_version("VEGAEMBED_VERSION"),
        vegalite_version=_version("VEGALITE_VERSION"),
    )
    return page


def _add_chart(spec: dict[str, Any], data: dict[str, Any]) -> None:
    """Add the chart record to the bundle; a chart that cannot be read is published without."""
    from .charts.record import CHART_MIME
    from .charts.vega.chart import altair_chart

    chart = altair_chart(spec)
    if chart is not None:
        data[CHART_MIME] = chart


def install(session: Session) -> None:
    """Capture what altair shows.

    Args:
        session: The session of the shell.
    """
    on_import("altair", AltairCapture(session).attach)
