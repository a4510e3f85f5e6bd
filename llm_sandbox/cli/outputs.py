"""Displays on a terminal, and figures and files of a result saved to a directory."""

import base64
import binascii
import contextlib
import io
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from llm_sandbox.artifacts.artifact import Artifact, extension, human_size
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.cli.exit_codes import usage_error
from llm_sandbox.cli.render import StreamWriter, plain_text, say
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.results.bundles import TABLE_MIME
from llm_sandbox.results.contents import Content
from llm_sandbox.results.plots import PlotOutput

if TYPE_CHECKING:
    from llm_sandbox.results.tables import Table

__all__ = [
    "describe_unsaved",
    "make_directory",
    "safe_name",
    "save_figures",
    "save_others",
    "show_display",
]

_LARGEST = 6 << 20
_WIDEST = 200
_LONGEST_NAME = 120
_MOST_SAVED = 1000
_ODD = re.compile(r"[^\w.()+=@ -]|^[.\s-]+|[.\s]+$")


def show_display(out: StreamWriter, data: Mapping[str, object]) -> None:
    """Write a display: on a terminal as a drawn table or picture where possible, else as text.

    A file or pipe gets the text that the program would print.

    Args:
        out: Stream to write to.
        data: MIME bundle.

    Raises:
        OSError: The stream cannot be written to.
    """
    if out.is_terminal:
        drawn = _table(data) or _picture(data)
        if drawn:
            out.draw(drawn)
            return
    text = plain_text(data)
    if text is not None:
        out.write(text + "\n")


def _table(data: Mapping[str, object]) -> str:
    if TABLE_MIME not in data:
        return ""
    from llm_sandbox.results.tables import Table

    # trust: a record from inside; its reader takes nothing on faith.
    table = Table.from_record(data[TABLE_MIME])
    return "" if table is None else _draw(table)


def _draw(table: "Table") -> str:
    from rich.console import Console

    from llm_sandbox.views.terminal import draw_table

    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    text = io.StringIO()
    console = Console(file=text, force_terminal=not plain, no_color=plain, width=width)
    console.print(draw_table(table))
    return text.getvalue()


def _picture(data: Mapping[str, object]) -> str:
    from llm_sandbox.views.inline_images import detect_protocol, encode_image

    protocol = detect_protocol()
    if protocol is None:
        return ""
    for mime in ("image/png", "image/jpeg"):
        encoded = data.get(mime)
        if isinstance(encoded, str) and len(encoded) <= _LARGEST:
            try:
                content = base64.b64decode(encoded)
            except (binascii.Error, ValueError):
                continue
            sequence = encode_image(content, protocol)
            if sequence is not None:
                return sequence + "\n"
    return ""


def make_directory(path: Path) -> None:
    """Create the directory for figures, before a program runs."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "--out takes a directory" if path.is_file() else None
        usage_error(f"cannot save figures in {path}: {error.strerror}", hint)


def save_figures(plots: Sequence[PlotOutput], directory: Path, first: int = 1) -> int:
    """Save figures as ``figure-N``, and print their paths.

    Returns:
        Number of saved figures.
    """
    saved = 0
    for number, plot in enumerate(plots, start=first):
        with contextlib.suppress(SandboxError):  # trust: what is not a file's content is left out
            try:
                path = plot.save(directory / f"figure-{number}")
            except OSError as error:
                say(f"figure {number} could not be saved: {error.strerror}")
                continue
            size = f" ({plot.width} x {plot.height} pixels)" if plot.width and plot.height else ""
            say(f"figure {number}: {path}{size}")
            saved += 1
    return saved


def save_others(result: ExecutionResult, directory: Path) -> int:
    """Save artifacts other than figures: files under their own names, displays under their kind.

    Nothing is overwritten: a name that is taken gets a number.

    Args:
        result: The run; its figures are left out, `save_figures` has them.
        directory: Target directory.

    Returns:
        Number of saved artifacts.
    """
    saved = 0
    for artifact in _others(result)[:_MOST_SAVED]:
        content, name = _content(artifact)
        if content is None:
            if artifact.note:
                say(f"{safe_name(artifact.name)} is not saved: {artifact.note}")
            continue
        try:
            path = _write(directory, name, content.bytes())
        except OSError as error:
            say(f"{name} could not be saved: {error.strerror}")
            continue
        say(f"{artifact.type.value}: {path} ({human_size(content.size)})")
        saved += 1
    return saved


def describe_unsaved(result: ExecutionResult) -> str:
    """Return how many figures and files a result has; empty for none."""
    files = sum(1 for artifact in _others(result) if artifact.paths)
    counts = [(len(result.plots), "figure"), (files, "file")]
    return " and ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in counts if n)


def _others(result: ExecutionResult) -> list[Artifact]:
    plots = any(artifact.type is ArtifactType.FIGURE for artifact in result.artifacts)
    return [
        artifact
        for artifact in result.artifacts
        if artifact.paths or not (plots and artifact.type is ArtifactType.FIGURE)
    ]


def _content(artifact: Artifact) -> tuple[Content | None, str]:
    """Return the content of an artifact to save, and its file name."""
    if artifact.paths:
        return artifact.content, safe_name(artifact.paths[0])
    if artifact.table is not None:
        return Content.of(artifact.table.to_csv().encode()), "table.csv"
    return artifact.content, safe_name(artifact.type.value + extension(artifact.mime))


def safe_name(path: str) -> str:
    """Return a safe file name for a path from inside: its last part, in harmless characters.

    Args:
        path: A path that code inside chose.
    """
    # trust: a name from inside; no part of it is a folder, a hidden file or a control sequence.
    name = _ODD.sub("_", PurePosixPath(path.replace("\\", "/")).name)
    stem, dot, suffix = name.rpartition(".")
    if len(name) > _LONGEST_NAME:
        name = f"{stem[: _LONGEST_NAME - len(suffix[:20]) - 1]}{dot}{suffix[:20]}"
    return name.encode("utf-8", "replace").decode() or "file"


def _write(directory: Path, name: str, data: bytes) -> Path:
    for candidate in _candidates(name):
        path = directory / candidate
        # Created or refused: neither a file that is there nor a link is written to.
        with contextlib.suppress(FileExistsError), path.open("xb") as file:
            file.write(data)
            return path
    raise FileExistsError(17, "every numbered name is taken")


def _candidates(name: str) -> Iterator[str]:
    yield name
    stem, dot, suffix = name.partition(".")
    for number in range(2, 10_000):
        yield f"{stem}-{number}{dot}{suffix}"
