"""Files that `--out` saves besides figures, and tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.cli.outputs import describe_unsaved, safe_name, save_others
from llm_sandbox.data import ExecutionResult
from llm_sandbox.results.contents import Content

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Done, Terminal  # for the type checker only


def left(*files: tuple[str, bytes]) -> ExecutionResult:
    """A run that left files."""
    artifacts = [
        Artifact(ArtifactType.DATA, "text/csv", Content.of(data), len(data), paths=(path,))
        for path, data in files
    ]
    return ExecutionResult(artifacts=tuple(artifacts))


@given(st.text() | st.from_regex(r"(\.\.?/|/|\\){0,3}[\w./\\ \x00\n\x1b-]{0,20}"))
def test_safe_names(path: str) -> None:
    """Whatever a path inside is, its name here is one visible, short, harmless name."""
    name = safe_name(path)
    assert name
    assert not set(name) & set('/\\\0\n\r\x1b:*?"<>|')
    assert not name.startswith((".", "-"))
    assert len(name.encode()) <= 500


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("out/data.csv", "data.csv"),
        ("../../etc/passwd", "passwd"),
        (".bashrc", "_bashrc"),
        ("..", "_"),
        ("", "file"),
        ("a\nb.txt", "a_b.txt"),
        ("C:\\x\\y.txt", "y.txt"),
        ("été 1.txt", "été 1.txt"),
    ],
)
def test_names(path: str, name: str) -> None:
    """Ordinary names stay as they are."""
    assert name == safe_name(path)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """Names that are taken, by files or by links, get numbers."""
    (tmp_path / "target").write_text("mine")
    (tmp_path / "b.txt").symlink_to(tmp_path / "target")
    (tmp_path / "a.csv").write_text("mine")
    result = left(("x/a.csv", b"1"), ("y/a.csv", b"2"), ("../b.txt", b"3"))
    assert 3 == save_others(result, tmp_path)
    assert ["mine", "1", "2"] == [
        (tmp_path / name).read_text() for name in ("a.csv", "a-2.csv", "a-3.csv")
    ]
    assert "mine" == (tmp_path / "target").read_text()
    assert "3" == (tmp_path / "b-2.txt").read_text()
    assert "3 files" == describe_unsaved(result)


@pytest.mark.usefixtures("isolation")
def test_files_are_saved(cli: Callable[..., Done], tmp_path: Path) -> None:
    """What a program writes into its directory is announced, and saved with `--out`."""
    code = "open('result.csv', 'w').write('a,b\\n1,2\\n')"
    assert "1 file came back; --out DIR saves them" in cli("run", "-c", code).err
    done = cli("run", "--out", "kept", "-c", code)
    assert "a,b\n1,2\n" == (tmp_path / "kept" / "result.csv").read_text()
    assert "kept/result.csv (8 bytes)" in done.err


@pytest.mark.usefixtures("isolation")
def test_table_on_a_terminal(terminal: Callable[..., Terminal], cli: Callable[..., Done]) -> None:
    """On a terminal a table is drawn; a pipe gets the text that pandas makes."""
    code = "import pandas as pd; display(pd.DataFrame({'alpha': [1, 2]}))"
    run = terminal("run", "-c", code, NO_COLOR="1")
    assert 0 == run.wait()
    assert "┃ alpha ┃" in run.text or "alpha ┃" in run.text
    assert "   alpha\n0      1\n1      2\n" == cli("run", "-c", code).out
