"""What came back, saved as files: figures by number, all else by its name."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from llm_sandbox.artifacts.artifact import Artifact, extension, human_size
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.cli.exit_codes import usage_error
from llm_sandbox.cli.render import say
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.results.contents import Content
from llm_sandbox.results.plots import PlotOutput

__all__ = ["describe_unsaved", "make_directory", "safe_name", "save_figures", "save_others"]

_LONGEST_NAME = 120
_MOST_SAVED = 1000
_ODD = re.compile(r"[^\w.()+=@ -]|^[.\s-]+|[.\s]+$")


def make_directory(path: Path) -> None:
    """Make the directory for figures, before anything is run for them."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "--out takes a directory" if path.is_file() else None
        usage_error(f"cannot save figures in {path}: {error.strerror}", hint)


def save_figures(plots: Sequence[PlotOutput], directory: Path, first: int = 1) -> int:
    """Save figures as ``figure-N``, and say where they are.

    Returns:
        How many were saved.
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
    """Save what is no figure: files under their own names, displays under their kind.

    Nothing that is there is written over: a name that is taken gets a number.

    Args:
        result: The run; its figures are left out, `save_figures` has them.
        directory: Where to.

    Returns:
        How many were saved.
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
    """Return how many figures and files came back; empty when none did."""
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
    """What is saved of an artifact, and under which name."""
    if artifact.paths:
        return artifact.content, safe_name(artifact.paths[0])
    if artifact.table is not None:
        return Content.of(artifact.table.to_csv().encode()), "table.csv"
    return artifact.content, safe_name(artifact.type.value + extension(artifact.mime))


def safe_name(path: str) -> str:
    """Return a file name for what has a path inside: its last part, in harmless characters.

    Args:
        path: A path that the inside chose.
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
