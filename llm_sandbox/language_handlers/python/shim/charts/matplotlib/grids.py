"""Readers of matplotlib's images, meshes, contours and surfaces."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .items import Item, color_of, label_of, numbers

if TYPE_CHECKING:
    from .axis import AxisReader
    from .calls import Call

_GRAY = ("gray", "gray_r", "grey", "grey_r", "binary")


def read_image(image: Any) -> list[Item]:
    """Read an ``AxesImage``.

    Args:
        image: The image.

    Returns:
        A heatmap of the values; an image for RGB data and for values drawn in grey.
    """
    numpy = sys.modules["numpy"]
    array = image.get_array()
    if array is None or array.ndim not in (2, 3):
        return []
    label = label_of(image)
    if array.ndim == 3:
        shape = list(array.shape)
        return [Item("image", {"shape": [shape]}, label, artist=image, total=shape[0] * shape[1])]
    gray = image.get_cmap().name in _GRAY and image.colorbar is None
    rows, columns = array.shape
    left, right, bottom, top = image.get_extent()
    x = _centres(left, right, columns)
    y = _centres(bottom, top, rows) if image.origin == "lower" else _centres(top, bottom, rows)
    z = numbers(array) if array.dtype.kind == "f" or numpy.ma.is_masked(array) else array
    columns_ = {"x": x, "y": y, "z": numpy.ma.getdata(z)}
    return [Item("image" if gray else "heatmap", columns_, label, None, image, names="xy")]


def _centres(start: float, end: float, count: int) -> Any:
    numpy = sys.modules["numpy"]
    step = (end - start) / count
    found = start + step * (numpy.arange(count) + 0.5)
    whole = numpy.rint(found)
    return numpy.where(abs(found - whole) < 1e-9 * abs(step), whole, found)


def read_mesh(mesh: Any, call: Call | None, x_axis: AxisReader, y_axis: AxisReader) -> list[Item]:
    """Read a ``QuadMesh``.

    Args:
        mesh: The mesh.
        call: The call that made it, if it is known.
        x_axis: Converts the x argument of the call into positions.
        y_axis: The same for y.

    Returns:
        A heatmap; the positions are those the user passed, or the centres of the cells.
    """
    array = mesh.get_array()
    corners = mesh.get_coordinates()
    rows, columns = corners.shape[0] - 1, corners.shape[1] - 1
    if array is None:
        return []
    if array.shape not in ((rows, columns), (rows + 1, columns + 1)):
        array = array.reshape(rows, columns) if array.size == rows * columns else array
    if array.ndim != 2:
        return []
    x, y = corners[0, :, 0], corners[:, 0, 1]
    if array.shape == (rows, columns):
        x, y = (x[:-1] + x[1:]) / 2, (y[:-1] + y[1:]) / 2
    if call is not None and "x" in call.data:
        x = _given(x_axis.floats(call.data["x"]), x, 1)
        y = _given(y_axis.floats(call.data["y"]), y, 0)
    z = {"x": x, "y": y, "z": numbers(array)}
    return [Item("heatmap", z, label_of(mesh), None, mesh, names="xy")]


def _given(passed: Any, centres: Any, index: int) -> Any:
    """Return the argument if it has one position for each cell."""
    found = numbers(passed)
    if found.ndim == 2:
        found = found[0] if index else found[:, 0]
    return found if len(found) == len(centres) else centres


def read_contour(call: Call, x_axis: AxisReader, y_axis: AxisReader) -> list[Item]:
    """Read a call of ``contour`` or ``contourf``.

    Args:
        call: The call.
        x_axis: Converts the x argument of the call into positions.
        y_axis: The same for y.

    Returns:
        The grid and the levels.
    """
    numpy = sys.modules["numpy"]
    artist = next(call.alive())
    z = numbers(call.data["z"])
    rows, columns = z.shape
    x, y = numpy.arange(columns), numpy.arange(rows)
    if "x" in call.data:
        x = _given(x_axis.floats(call.data["x"]), x, 1)
        y = _given(y_axis.floats(call.data["y"]), y, 0)
    found = {"x": x, "y": y, "z": z, "levels": numbers(artist.levels)}
    return [Item("contour", found, label_of(artist), None, artist)]


def read_surface(call: Call) -> list[Item]:
    """Read a call of ``plot_surface`` or of a similar method.

    Args:
        call: The call.

    Returns:
        A surface over a grid, or points if there is no grid.
    """
    numpy = sys.modules["numpy"]
    artist = next(call.alive())
    x, y, z = (numbers(call.data[name]) for name in "xyz")
    label, color = label_of(artist), color_of(artist)
    if z.ndim == 2:
        x, y, z = numpy.broadcast_arrays(x, y, z)
        if (x == x[:1]).all() and (y == y[:, :1]).all():
            columns = {"x": x[0], "y": y[:, 0], "z": z}
            return [Item("surface3d", columns, label, color, artist)]
    columns = {"x": x.ravel(), "y": y.ravel(), "z": z.ravel()}
    return [Item("scatter3d", columns, label, color, artist)]


def read_cuboids(call: Call) -> list[Item]:
    """Read a call of ``bar3d``.

    Args:
        call: The call.

    Returns:
        Positions and heights of the bars.
    """
    numpy = sys.modules["numpy"]
    artist = next(call.alive())
    found = numpy.broadcast_arrays(*(numbers(call.data[name]) for name in ("x", "y", "z", "dz")))
    names = ("x", "y", "base", "z")
    columns = {name: part.ravel() for name, part in zip(names, found, strict=True)}
    if not columns["base"].any():
        del columns["base"]
    return [Item("other", columns, label_of(artist), None, artist)]


def read_arrows(quiver: Any) -> list[Item]:
    """Read a ``Quiver``.

    Args:
        quiver: The arrows.

    Returns:
        Positions and directions of the arrows.
    """
    columns = {
        "x": numbers(quiver.X).ravel(),
        "y": numbers(quiver.Y).ravel(),
        "u": numbers(quiver.U).ravel(),
        "v": numbers(quiver.V).ravel(),
    }
    value = quiver.get_array()
    if value is not None and len(value) == len(columns["x"]):
        columns["value"] = numbers(value).ravel()
    return [Item("other", columns, label_of(quiver), None, quiver)]
