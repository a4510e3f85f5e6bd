"""Sectors of plotly's treemaps, sunbursts and icicles, as large as they are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .values import to_number

if TYPE_CHECKING:
    from .trace import Record, Trace

__all__ = ["read_hierarchy"]


def read_hierarchy(trace: Trace) -> Record | None:
    """Read sectors that lie in each other: one row a sector, with the value that it stands for.

    A value that is not given is the number of leaves, as plotly.js counts them; without
    ``branchvalues="total"`` that of a parent comes on top of those below it.
    """
    labels, parents = trace.items("labels"), trace.items("parents")
    ids = trace.items("ids")
    labels = ids if labels is None else labels
    if not labels or parents is None:
        return None
    names = [str(name) for name in (labels if ids is None else ids)]
    length = min(len(labels), len(parents), len(names))
    above = ["" if parent is None else str(parent) for parent in parents[:length]]
    columns: dict[str, Any] = {"labels": labels[:length], "parents": above}
    columns["values"] = _values(trace, names[:length], above)
    if ids is not None and names[:length] != [str(label) for label in labels[:length]]:
        columns = {"ids": names[:length], **columns}
    shades = trace.items("marker", "colors")
    if shades and all(isinstance(shade, (int, float)) for shade in shades[:length]):
        columns["colors"] = shades[:length]
    return trace.series("other", columns)


def _values(trace: Trace, names: list[str], parents: list[str]) -> list[float | None]:
    below: dict[str, list[int]] = {}
    for number, parent in enumerate(parents):
        if parent != names[number]:
            below.setdefault(parent, []).append(number)
    given = trace.items("values")
    if given is not None:
        own = [to_number(value) for value in [*given, *[None] * len(names)][: len(names)]]
        if trace.get("branchvalues") == "total":
            return own
    else:
        counted = str(trace.get("count") or "leaves")
        own = [float(("branches" if name in below else "leaves") in counted) for name in names]
    total: dict[int, float] = {}
    # Children stand after their parents here, so that sums are made from the leaves upwards.
    order = list(below.get("", []))
    seen = set(order)
    for number in order:
        more = [child for child in below.get(names[number], []) if child not in seen]
        seen.update(more)
        order += more
    for number in reversed(order):
        inner = sum(total.get(child, 0) for child in below.get(names[number], []))
        total[number] = (own[number] or 0) + inner
    return [total.get(number) for number in range(len(names))]
