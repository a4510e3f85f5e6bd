"""Reader of the series of one axes: every artist is read once, through the call or the group it
belongs to.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..record import SERIES_LIMIT
from . import areas, bars, grids, lines, seaborn_series, shapes
from .calls import Call, calls_of
from .items import Item, color_of, label_of, numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from .axis import AxisReader
    from .legend import Legend

_CHILD_LIMIT = 20_000


@dataclass(slots=True)
class _Unit:
    read: Callable[[], list[Item]]
    done: bool = False


class SeriesReader:
    """Reader of the artists drawn into axes.

    Attributes:
        left: Number of artists that were skipped because there are too many.
        unread: Descriptions of artists that cannot be represented as data.
        members: Identities of artists that belong to a group, such as the texts of a pie.
    """

    def __init__(self, axes: Any, x: AxisReader, y: AxisReader, legend: Legend) -> None:
        self._axes, self._x, self._y, self._legend = axes, x, y, legend
        self._units: dict[int, _Unit] = {}
        self._calls: dict[int, Call] = {}
        self._containers: dict[int, Any] = {}
        self.left = 0
        self.unread: list[str] = []
        self._arrows: list[Any] = []
        self._shapes = {"shape": 0, "solid shape": 0, "arrow between texts": 0}

    @property
    def members(self) -> set[int]:
        """Return the identities of artists that belong to a group."""
        return set(self._units)

    def read(self) -> list[Item]:
        """Read all series in drawing order.

        Returns:
            The series.
        """
        for container in list(self._axes.containers):
            _read_safely(lambda: self._add_container(container))  # noqa: B023 - called at once
        calls = [call for call in calls_of(self._axes) if any(True for _ in call.alive())]
        for call in calls:
            _read_safely(lambda: self._add_call(call))  # noqa: B023 - called at once
        owners = {id(call.owner): call.owner for call in calls if call.owner is not None}
        names = [owner.name for owner in owners.values()]
        self.unread += ["a dendrogram"] * names.count("dendrogram")
        for artists, read in seaborn_series.units(
            self._axes, calls, self._containers, self._x, self._y, self._legend
        ):
            self._add(artists, read)
        found: list[Item] = []
        rectangles: list[Any] = []
        children = getattr(self._axes, "_children", None)
        children = list(self._axes.get_children() if children is None else children)
        for number, child in enumerate(children):
            if len(found) > SERIES_LIMIT or number > _CHILD_LIMIT + len(self._units):
                self.left = len(children) - number
                break
            unit = self._units.get(id(child))
            if unit is None:
                found += _read_safely(lambda: self._read_artist(child, rectangles))  # noqa: B023
            elif not unit.done:
                unit.done = True
                if child.get_visible():
                    found += _read_safely(unit.read)
        return found + self._rest(rectangles)

    def _rest(self, rectangles: list[Any]) -> list[Item]:
        """Read series that consist of many artists, and describe what was not read."""
        found: list[Item] = []
        if rectangles:
            found += _read_safely(lambda: [_free_rectangles(rectangles)])
        if self._arrows:
            found += _read_safely(lambda: [shapes.read_patch_arrows(self._arrows)])
        for table in self._axes.tables:
            if table.get_visible():
                found += _read_safely(lambda: shapes.read_table(table))  # noqa: B023 - called at once
        for name, count in self._shapes.items():
            if count:
                first, *more = name.split(" ", 1) if name.startswith("arrow") else (name,)
                words = " ".join([first + "s" * (count > 1), *more])
                self.unread.append(f"{count} {words}")
        return found

    def _add(self, artists: Any, read: Callable[[], list[Item]]) -> None:
        unit = _Unit(read)
        for artist in artists:
            self._units[id(artist)] = unit

    def _add_container(self, container: Any) -> list[Item]:
        name = type(container).__name__
        members = [child for child in container.get_children() if child is not None]
        if not members:
            return []
        self._containers[id(members[0])] = container
        if name == "BarContainer":
            self._add(container.patches, lambda: bars.read_bars(container))
        elif name == "ErrorbarContainer":
            self._add(
                members,
                lambda: lines.read_errorbar(container, None, self._x, self._y),
            )
        elif name == "StemContainer":
            self._add(members, lambda: lines.read_stem(container))
        return []

    def _add_call(self, call: Call) -> list[Item]:
        artists = list(call.alive())
        for artist in artists:
            self._calls[id(artist)] = call
        x, y = self._x, self._y
        name = call.name
        if name == "hist":
            groups = [self._containers.get(id(artist)) for artist in artists]
            members = [
                member
                for artist, group in zip(artists, groups, strict=True)
                for member in (group.patches if group is not None else (artist,))
            ]
            self._add(members, lambda: self._read_histogram(call))
        elif name == "errorbar" and id(artists[0]) in self._containers:
            group = self._containers[id(artists[0])]
            members = [child for child in group.get_children() if child is not None]
            self._add(members, lambda: lines.read_errorbar(group, call, x, y))
        elif name == "bxp":
            self._add(artists, lambda: bars.read_boxes(call))
        elif name == "violin":
            self._add(artists, lambda: bars.read_violins(call))
        elif name == "pie":
            labels = self._legend.texts
            self._add(artists, lambda: bars.read_pie(call, labels))
        elif name in ("fill_between", "fill_betweenx"):
            self._add(artists, lambda: areas.read_fill(call, x, y))
        elif name == "stackplot":
            self._add(artists, lambda: areas.read_stack(call, x))
        else:
            self._add_field(call, artists)
        return []

    def _add_field(self, call: Call, artists: list[Any]) -> None:
        """Add values drawn at points of a plane or of a 3D space."""
        x, y, name = self._x, self._y, call.name
        if name == "streamplot":
            heads = shapes.stream_arrows(self._axes, artists[0], call)
            self._add([*artists, *heads], lambda: shapes.read_stream(call))
        elif name.startswith("tri") and "z" in call.data:
            self._add(artists, lambda: shapes.read_triangles(call))
        elif name in ("contour", "contourf") and "z" in call.data:
            self._add(artists, lambda: grids.read_contour(call, x, y))
        elif name.startswith("plot_"):
            self._add(artists, lambda: grids.read_surface(call))
        elif name == "bar3d":
            self._add(artists, lambda: grids.read_cuboids(call))

    def _read_histogram(self, call: Call) -> list[Item]:
        axis = self._y if call.data["horizontal"] else self._x
        return bars.read_histogram(call, self._containers, axis.name_count())

    def _read_artist(self, artist: Any, rectangles: list[Any]) -> list[Item]:
        if not artist.get_visible():
            return []
        modules = sys.modules
        if isinstance(artist, modules["matplotlib.text"].Annotation):
            self._add_arrow(artist)
            return []
        if isinstance(artist, modules["matplotlib.lines"].Line2D):
            return lines.read_line(self._axes, artist)
        if isinstance(artist, modules["matplotlib.patches"].Patch):
            return self._read_patch(artist, rectangles)
        if isinstance(artist, modules["matplotlib.collections"].Collection):
            return self._read_collection(artist)
        if isinstance(artist, modules["matplotlib.image"].AxesImage):
            return grids.read_image(artist)
        return []

    def _add_arrow(self, text: Any) -> None:
        """Record the arrow of an annotation, which belongs to a text only if it has one."""
        if text.arrow_patch is None or tuple(text.xy) == tuple(text.xyann):
            return
        placed = text.xycoords == "data" and text.anncoords == "data"
        if not placed and text.xycoords != "data":
            self._shapes["arrow between texts"] += 1
        elif placed and not text.get_text().strip():
            self._arrows.append(text)

    def _read_collection(self, artist: Any) -> list[Item]:
        kinds = sys.modules["matplotlib.collections"]
        call = self._calls.get(id(artist))
        name = call.name if call is not None else ""
        if isinstance(artist, kinds.PathCollection):
            return areas.read_points(artist)
        if isinstance(artist, kinds.QuadMesh):
            return grids.read_mesh(artist, call, self._x, self._y)
        if hasattr(artist, "levels"):
            columns = {"levels": numbers(artist.levels)}
            self.unread.append("the values that contours were drawn from")
            return [Item("contour", columns, label_of(artist), None, artist)]
        if hasattr(artist, "do_3d_projection"):
            self._shapes["solid shape"] += 1
            return []
        if isinstance(artist, kinds.LineCollection):
            return shapes.read_lines(self._axes, artist)
        if name == "hexbin":
            return areas.read_cells(artist)
        if name == "broken_barh":
            return areas.read_spans(artist)
        return self._read_outlines(artist)

    def _read_outlines(self, artist: Any) -> list[Item]:
        kinds = sys.modules["matplotlib.collections"]
        found: list[Item] = []
        if type(artist).__name__ == "Barbs":
            return shapes.read_barbs(artist)
        if type(artist).__name__ == "Quiver":
            return grids.read_arrows(artist)
        if type(artist) is kinds.PatchCollection:
            found = bars.read_patches(artist) or shapes.read_paths(artist)
            if not found:
                found = shapes.read_extents(artist)
                self.unread.append(f"outlines of {len(artist.get_paths())} shapes")
        elif isinstance(artist, kinds.PolyCollection):
            found = areas.read_outlines(artist) or shapes.read_paths(artist)
        if not found:
            self._shapes["shape"] += len(artist.get_paths())
        return found

    def _read_patch(self, patch: Any, rectangles: list[Any]) -> list[Item]:
        kinds = sys.modules["matplotlib.patches"]
        if isinstance(patch, kinds.StepPatch):
            return bars.read_stairs(patch)
        data = self._axes.transData
        if isinstance(patch, kinds.Rectangle):
            in_x, in_y = patch.get_transform().contains_branch_seperately(data)
            if in_x and in_y:
                # Empty ones are only there to be named by a legend.
                if patch.get_width() or patch.get_height():
                    rectangles.append(patch)
            elif in_x or in_y:
                start = patch.get_x() if in_x else patch.get_y()
                size = patch.get_width() if in_x else patch.get_height()
                columns = {"x" if in_x else "y": numbers([start, start + size])}
                return [Item("other", columns, label_of(patch), color_of(patch), patch, main=False)]
            return []
        if isinstance(patch, kinds.FancyArrowPatch):
            if patch._posA_posB:
                self._arrows.append(patch)
            return []
        if not patch.get_transform().contains_branch(data) or isinstance(patch, kinds.Shadow):
            return []
        return self._read_shape(patch, rectangles)

    def _read_shape(self, patch: Any, rectangles: list[Any]) -> list[Item]:
        kinds = sys.modules["matplotlib.patches"]
        if isinstance(patch, kinds.FancyArrow) and hasattr(patch, "_dx"):
            self._arrows.append(patch)
            return []
        if isinstance(patch, kinds.Circle):
            return shapes.read_circle(patch)
        if isinstance(patch, kinds.FancyBboxPatch):
            rectangles.append(patch)
            return []
        if isinstance(patch, kinds.Polygon):
            return _polygon(patch)
        self._shapes["shape"] += 1
        return []


def _polygon(patch: Any) -> list[Item]:
    numpy = sys.modules["numpy"]
    points = numbers(patch.get_xy())
    if patch.get_closed() and len(points) > 1 and (points[0] == points[-1]).all():
        points = points[:-1]
    half = len(points) // 2
    if half > 1 and len(points) == 2 * half:
        one, two = points[:half], points[half:][::-1]
        for index in (0, 1):
            if numpy.array_equal(one[:, index], two[:, index]):
                edges = one[:, 1 - index], two[:, 1 - index]
                return [areas.area(one[:, index], *edges, index == 1, patch)]
    columns = {"x": points[:, 0], "y": points[:, 1]}
    return [Item("other", columns, label_of(patch), color_of(patch), patch, main=False)]


def _free_rectangles(patches: list[Any]) -> Item:
    found = numbers([(p.get_x(), p.get_y(), p.get_width(), p.get_height()) for p in patches])
    columns = dict(zip(("x", "y", "width", "height"), found.T, strict=True))
    return Item("other", columns, None, None, patches[0], main=False)


def _read_safely(read: Callable[[], list[Item]]) -> list[Item]:
    """Read an artist, ignoring any exception: artists may be instances of the user's subclasses."""
    try:
        return read()
    except Exception:  # noqa: BLE001 - the other series are still told
        return []
