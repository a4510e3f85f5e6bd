"""Sessions as notebooks, and notebooks as code."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.outputs import ClearOutput, UpdateOutput
from llm_sandbox.views.notebook import read_notebook, to_notebook

if TYPE_CHECKING:
    from pathlib import Path

    from tests.views.conftest import Run  # for the type checker only


def outputs(*entries: Any) -> list[list[dict[str, Any]]]:
    notebook: Any = to_notebook(entries)
    nbformat.validate(nbformat.from_dict(notebook))
    return [cell["outputs"] for cell in notebook["cells"]]


def test_all_forms(run: type[Run]) -> None:
    """Every sort of output is there with all its forms, but for those that are only ours."""
    made = run().out("a\nb").out("c\n").out("warn\n", "stderr").picture()
    made.show(
        {
            "text/html": "<b>x</b>\n<i>y</i>",
            "application/json": {"a": [1, None]},
            "application/vnd.llm-sandbox.table+json": {"version": 1},
        }
    )
    made.value("42").fail("ValueError", "bad")
    (found,) = outputs(("code()", made.result()))
    kinds = [item["output_type"] for item in found]
    assert ["stream", "stream", "display_data", "display_data", "execute_result", "error"] == kinds
    assert ["a\n", "bc\n"] == found[0]["text"]
    assert {"image/png", "text/plain"} == found[2]["data"].keys()
    assert isinstance(found[2]["data"]["image/png"], str)
    html, data = ["<b>x</b>\n", "<i>y</i>"], {"a": [1, None]}
    assert {"text/html": html, "application/json": data} == found[3]["data"]
    assert 1 == found[4]["execution_count"]
    assert ("ValueError", "bad") == (found[5]["ename"], found[5]["evalue"])


def test_updates_and_clearings(run: type[Run]) -> None:
    """An update changes the display it names, in an earlier cell as well; a clearing clears."""
    first = run().out("gone").show({"text/plain": "0"}, display_id="d")
    first.outputs.insert(1, ClearOutput())
    first.outputs.append(UpdateOutput("d", {"text/plain": "1"}))
    second = run().out("x")
    second.outputs.append(UpdateOutput("d", {"text/plain": "2"}))
    one, two = outputs(("a", first.result()), ("b", second.result()))
    assert [["2"]] == [item["data"]["text/plain"] for item in one]
    assert ["stream"] == [item["output_type"] for item in two]


def test_same_entries_same_notebook(run: type[Run]) -> None:
    """Cell ids depend on nothing but place and code, and are all different."""
    entries = [("x = 1", run().result()), ("x = 1", run().out("x").result())]
    first, second = (to_notebook(entries) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)
    assert 2 == len({cell["id"] for cell in first["cells"]})  # type: ignore[attr-defined]


@settings(deadline=None, max_examples=40)
@given(
    code=st.text(st.characters(codec=None), max_size=100),
    text=st.text(st.characters(codec=None), max_size=200),
    bundle=st.dictionaries(
        st.sampled_from(["text/plain", "text/html", "application/json", "image/png", "x", "a/b"]),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=5), inner, max_size=3)
            ),
            max_leaves=5,
        ),
        max_size=4,
    ),
)
def test_always_valid(run: type[Run], code: str, text: str, bundle: dict[str, Any]) -> None:
    """Whatever a program displays, the notebook is valid and can be written in UTF-8."""
    made = run().out(text).show(bundle).fail(text, text)
    notebook = to_notebook([(code, made.result())])
    nbformat.validate(nbformat.from_dict(notebook))
    json.dumps(notebook, ensure_ascii=False, allow_nan=False).encode("utf-8")


def test_runs_again(run: type[Run], tmp_path: Path) -> None:
    """What was exported is executed by another program, and gives the same outputs."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    entries = [
        ("x = 6\nprint('hello')", run().out("hello\n").result()),
        ("x * 7", run().value("42").with_fields(execution_count=2).result()),
    ]
    path = tmp_path / "session.ipynb"
    path.write_text(json.dumps(to_notebook(entries)), encoding="utf-8")
    notebook = nbformat.read(path, as_version=4)
    before = copy.deepcopy([cell["outputs"] for cell in notebook.cells])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    assert before == [cell["outputs"] for cell in notebook.cells]
    assert ["x = 6\nprint('hello')", "x * 7"] == read_notebook(path)


def write(path: Path, **changes: Any) -> Path:
    code = {"cell_type": "code", "source": ["%matplotlib inline\n", "1"], "outputs": []}
    cells = [code, {"cell_type": "markdown", "source": "# x"}, code | {"source": "!ls"}]
    document = {"nbformat": 4, "nbformat_minor": 2, "metadata": {}, "cells": cells} | changes
    path.write_text(json.dumps(document))
    return path


def test_read_keeps_magics(tmp_path: Path) -> None:
    """Code cells come with their magics, other cells not at all."""
    assert ["%matplotlib inline\n1", "!ls"] == read_notebook(write(tmp_path / "n.ipynb"))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"nbformat": 3, "worksheets": []}, "has format 3"),
        ({"nbformat": 5}, "not a notebook of format 4"),
        ({"cells": {}}, "not a notebook of format 4"),
        ({"cells": [3]}, "cell 1 of the notebook is malformed"),
        ({"cells": [{"cell_type": "code", "source": 4}]}, "code of cell 1 is not text"),
        ({"cells": [{}] * 10_001}, "10,001 cells"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refused(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    """What is no notebook of format 4, or too large a one, is refused with the reason."""
    with pytest.raises(ValidationError, match=says):
        read_notebook(write(tmp_path / "n.ipynb", **changes))


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"[]", b"[" * 500_000, b'{"nbformat": ' + b"9" * 5000 + b"}"],
    ids=["empty", "bytes", "list", "deep", "long number"],
)
def test_hostile_files(tmp_path: Path, content: bytes) -> None:
    """A file that is made to break a parser is refused like any other."""
    path = tmp_path / "n.ipynb"
    path.write_bytes(content)
    with pytest.raises(ValidationError, match="not a notebook"):
        read_notebook(path)
