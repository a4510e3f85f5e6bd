"""Widgets that a cell shows: what they say when it has ended.

A widget's picture is drawn by a front end, from messages between it and the kernel. Its text is of
the moment when it was shown: a progress bar's says that nothing was done yet.
"""

import sys
import uuid
from collections.abc import Iterator
from typing import Any

__all__ = ["ShownWidgets"]

_VIEW = "application/vnd.jupyter.widget-view+json"
_MOST = 1000


class ShownWidgets:
    """The widgets that the cell at hand has shown."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[str, object]] = {}

    def note(self, content: dict[str, Any]) -> None:
        """Remember what a display shows, if that is a widget, and name the display.

        Args:
            content: The content of the message, which is changed.
        """
        view = content["data"].get(_VIEW)
        if not isinstance(view, dict) or len(self._shown) >= _MOST:
            return
        transient = content.setdefault("transient", {})
        known = transient.setdefault("display_id", uuid.uuid4().hex)
        self._shown[known] = str(view.get("model_id")), content["data"].get("text/plain")

    def take_changed(self) -> Iterator[dict[str, Any]]:
        """Yield the contents of updates for those whose text is another by now, and forget all."""
        shown, self._shown = self._shown, {}
        widgets = _widgets() if shown else {}
        for known, (model, text) in shown.items():
            widget = widgets.get(model)
            # One that was closed is seen no more.
            data = widget._repr_mimebundle_() if widget is not None else {}
            if isinstance(data, dict) and data.get("text/plain") != text:
                yield {"data": data, "metadata": {}, "transient": {"display_id": known}}


def _widgets() -> dict[str, Any]:
    """All widgets of this process by the id of their model."""
    module = sys.modules.get("ipywidgets.widgets.widget")
    # Where version 8 keeps them, and where version 7 did.
    known = getattr(module, "_instances", None)
    if known is None:
        known = getattr(getattr(module, "Widget", None), "widgets", None)
    return dict(known) if known else {}
