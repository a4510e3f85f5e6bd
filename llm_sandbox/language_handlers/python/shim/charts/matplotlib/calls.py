"""Record of the calls that made the artists of a matplotlib figure.

A histogram and a bar chart make the same rectangles; only the call distinguishes them. The
methods of ``Axes`` are wrapped when matplotlib is imported, and only the outermost call is
recorded.
"""

from __future__ import annotations

import functools
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from . import arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

    OnImport = Callable[[str, Callable[[ModuleType], None]], None]

_PRUNE_EVERY = 64
_ARTIST_LIMIT = 20_000
_CONTAINERS = ("BarContainer", "ErrorbarContainer", "StemContainer")


@dataclass(slots=True)
class Owner:
    """Running function of a library on top of matplotlib, such as seaborn's ``violinplot``.

    Attributes:
        library: The library.
        name: Kind of plot it draws, such as ``violin``.
        calls: Calls made so far, with their axes.
        data: Data recorded by the wrapper of the function.
    """

    library: str
    name: str
    calls: list[tuple[Any, Call]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Call:
    """Outermost call of a method of axes.

    Attributes:
        name: The method.
        artists: Artists that the call made.
        data: Arguments of the call that the artists do not hold.
        owner: Library function that made the call, if any.
    """

    name: str
    artists: list[ref[Any]]
    data: dict[str, Any]
    owner: Owner | None

    def alive(self) -> Iterator[Any]:
        """Iterate over the artists that still exist."""
        for reference in self.artists:
            artist = reference()
            if artist is not None:
                yield artist


_state = threading.local()
_calls: WeakKeyDictionary[Any, list[Call]] = WeakKeyDictionary()
_legends: WeakKeyDictionary[Any, list[tuple[ref[Any], Any]]] = WeakKeyDictionary()


def calls_of(axes: Any) -> list[Call]:
    """Return the recorded calls that drew into axes.

    Args:
        axes: The axes.

    Returns:
        The calls in order; empty if none was recorded.
    """
    return _calls.get(axes, [])


def handles_of(legend: Any) -> list[tuple[Any, Any]]:
    """Return the handles of a legend.

    Args:
        legend: The legend.

    Returns:
        Artists with their labels; the first one of a group.
    """
    pairs = [(reference(), label) for reference, label in _legends.get(legend, [])]
    return [(artist, label) for artist, label in pairs if artist is not None]


def wrap(kind: Any, name: str) -> None:
    """Record the calls of one method.

    Args:
        kind: The class of axes that defines it.
        name: The method; a missing one is skipped.
    """
    original = vars(kind).get(name)
    if original is None or hasattr(original, "_llm_sandbox_recorded"):
        return

    reader = arguments.READERS.get(name)

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = vars(_state)  # of this thread, and quicker than attribute by attribute
        if state.get("depth"):
            return original(self, *args, **kwargs)
        state["depth"] = 1
        try:
            result = original(self, *args, **kwargs)
        finally:
            state["depth"] = 0
        owner = state.get("owner")
        if reader is not None or owner is not None:
            with suppress(Exception):  # a chart less, and the plot as it is
                data = {} if reader is None else reader(args, kwargs, result)
                _record(self, name, owner, data, result)
        return result

    method.__dict__["_llm_sandbox_recorded"] = True
    setattr(kind, name, method)


def wrap_owner(
    holder: Any,
    name: str,
    library: str,
    what: str,
    finish: Callable[[Owner, Any, tuple[Any, ...], dict[str, Any]], None] | None = None,
) -> None:
    """Record the function of a library as owner of the calls that it makes.

    Args:
        holder: The class or module that has the function.
        name: The function; a missing one is skipped.
        library: The library.
        what: Kind of plot it draws; empty to take it from the argument ``kind``.
        finish: Called afterwards with the owner, the first argument and all arguments.
    """
    original = vars(holder).get(name)
    if not callable(original) or hasattr(original, "_llm_sandbox_recorded"):
        return

    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        state = vars(_state)
        previous = state.get("owner")
        owner = Owner(library, what or str(kwargs.get("kind") or ""))
        state["owner"] = owner
        try:
            result = original(*args, **kwargs)
        finally:
            state["owner"] = previous
        if finish is not None:
            with suppress(Exception):  # the artists are read without it
                finish(owner, args[0] if args else None, args, kwargs)
        owner.calls.clear()  # they would keep the axes alive
        return result

    function.__dict__["_llm_sandbox_recorded"] = True
    setattr(holder, name, function)


def _record(axes: Any, name: str, owner: Owner | None, data: dict[str, Any], result: Any) -> None:
    call = Call(name, [ref(artist) for artist in _artists(result)], data, owner)
    known = _calls.setdefault(axes, [])
    known.append(call)
    if owner is not None:
        owner.calls.append((axes, call))
    if len(known) % _PRUNE_EVERY == 0:
        # A loop that clears its axes for every frame must not fill the memory.
        known[:] = [item for item in known if any(artist.axes is axes for artist in item.alive())]


def _artists(result: Any, depth: int = 3) -> Iterable[Any]:
    """Return the artists in the return value of a method."""
    found: list[Any] = []
    if hasattr(result, "get_zorder"):
        found.append(result)
    elif type(result).__name__ in _CONTAINERS:
        found.extend(result.get_children()[:1])  # the readers know the rest
    elif type(result).__name__ == "StreamplotSet":
        found.append(result.lines)
    elif hasattr(result, "wedges"):
        found.extend(result.wedges)
        found.extend(text for texts in result.texts for text in texts)
    elif isinstance(result, dict) and depth:
        for value in result.values():
            found.extend(_artists(value, depth - 1))
    elif depth and (isinstance(result, (list, tuple)) or type(result).__name__ == "silent_list"):
        for value in result:
            if value is not None and not isinstance(value, (float, int, str)):
                found.extend(_artists(value, depth - 1))
            if len(found) > _ARTIST_LIMIT:
                break
    return found


def _attach_axes(module: ModuleType) -> None:
    for name in arguments.METHODS:
        wrap(module.Axes, name)


def _attach_base(module: ModuleType) -> None:
    for name in ("add_collection", "add_line", "add_patch"):
        wrap(module._AxesBase, name)


def _attach_solid(module: ModuleType) -> None:
    for name in arguments.SOLID_METHODS:
        wrap(module.Axes3D, name)


def _attach_legend(module: ModuleType) -> None:
    kind: Any = module.Legend
    original = kind.__init__
    if hasattr(original, "_llm_sandbox_recorded"):
        return

    @functools.wraps(original)
    def __init__(self: Any, parent: Any, handles: Any, labels: Any, **kwargs: Any) -> None:
        with suppress(Exception):  # labels then come from the colours
            handles, labels = list(handles), list(labels)
            pairs = [
                (next(iter(_artists(handle)), None), label)
                for handle, label in zip(handles, labels, strict=False)
            ]
            _legends[self] = [(ref(artist), label) for artist, label in pairs if artist is not None]
        original(self, parent, handles, labels, **kwargs)

    __init__.__dict__["_llm_sandbox_recorded"] = True
    kind.__init__ = __init__


def _keep_sizes(owner: Owner, first: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Record the values of a treemap, which its rectangles encode as areas."""
    owner.data["value"] = list(kwargs.get("sizes", first))
    labels = kwargs.get("label", args[3] if len(args) > 3 else None)
    owner.data["label"] = None if labels is None else [str(label) for label in labels]


def _attach_treemap(module: ModuleType) -> None:
    wrap_owner(module, "plot", "squarify", "treemap", _keep_sizes)


def install(on_import: OnImport) -> None:
    """Record calls once matplotlib is imported.

    Args:
        on_import: Runs a hook after a module is imported.
    """
    on_import("matplotlib.axes._base", _attach_base)
    on_import("matplotlib.axes._axes", _attach_axes)
    on_import("matplotlib.legend", _attach_legend)
    on_import("mpl_toolkits.mplot3d.axes3d", _attach_solid)
    on_import("squarify", _attach_treemap)
