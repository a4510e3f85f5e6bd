"""Views of a session's runs for models, people and archives, from end to end."""

import asyncio
import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from llm_sandbox import BaseSession, Limits, SandboxTimeoutError, aio, create_session
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.views.budget import estimate_tokens

HUGE = """
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

for number in range(40):
    plt.figure(figsize=(4, 3))
    plt.plot(np.arange(50) * number)
    plt.title(f"figure {number}")
    plt.show()
line = "x" * 99
for _ in range(100):
    print("\\n".join([line] * 10_000))
display(pd.DataFrame({"a": np.arange(10_000_000), "b": 0.5}))
prices = {"a": 1}
prices["the missing key"]
"""


@pytest.fixture
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as opened:
        yield opened


def texts(parts: list[dict[str, Any]]) -> str:
    return "\n".join(part["text"] for part in parts if "text" in part)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [500, 2000, 8000])
def test_a_huge_run_stays_under_its_budget_and_keeps_its_error(budget: int, huge: Any) -> None:
    """100 MB of text, 40 figures, ten million rows: the error and its line are there."""
    parts = huge.for_llm(max_tokens=budget)
    text = texts(parts)
    assert estimate_tokens(text) <= budget
    assert "KeyError" in text
    assert "prices[" in text
    assert "10,000,000 rows" in text
    assert all("base64" not in part.get("text", "") for part in parts)


@pytest.fixture(scope="module")
def huge() -> Iterator[Any]:
    limits = Limits(memory_bytes=3 << 30, output_bytes=110 << 20)
    with create_session("bubblewrap", limits=limits) as opened:
        result = opened.run(HUGE)
        assert len(result.stdout) >= 100_000_000
        assert len(result.plots) == len(result.charts) == 40
        yield result


def test_a_large_picture_is_scaled_down_in_a_sandbox(session: BaseSession) -> None:
    """No part is larger than asked for, and the original stays as it was."""
    result = session.run(
        "import matplotlib.pyplot as plt\nplt.figure(figsize=(16, 12), dpi=150)\nplt.plot([1, 2])\n"
        "plt.show()"
    )
    original = result.artifacts[0]
    assert original.width is not None
    assert original.width > 1500
    (image,) = [p for p in result.for_llm(max_image_px=300, shape="mcp") if p["type"] == "image"]
    header = base64.b64decode(image["data"])[16:24]
    assert max(int.from_bytes(header[:4]), int.from_bytes(header[4:])) == 300


def test_a_notebook_is_valid_and_runs_again_elsewhere(session: BaseSession, tmp_path: Path) -> None:
    """What a session wrote satisfies the format, and a stock kernel gives the same text."""
    session.run("import pandas as pd\nt = pd.DataFrame({'a': [1, 2]})\nt")
    session.run("print('text')\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    session.run("1 / 0")
    path = session.to_notebook(tmp_path / "s.ipynb")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    kinds = [[output.output_type for output in cell.outputs] for cell in notebook.cells]
    assert kinds == [["execute_result"], ["stream", "display_data"], ["error"]]
    assert "image/png" in notebook.cells[1].outputs[1].data

    client = NotebookClient(notebook, timeout=60, allow_errors=True, kernel_name="python3")
    again = client.execute()
    assert again.cells[1].outputs[0].text == "text\n"
    assert again.cells[2].outputs[-1].ename == "ZeroDivisionError"


def test_a_session_goes_on_from_a_notebook(session: BaseSession, tmp_path: Path) -> None:
    """Cells are run in order, the state is theirs, and a failing one ends it unless told."""
    for code in ("x = 20", "y = x + 1", "1 / 0", "z = 3"):
        session.run(code)
    path = session.to_notebook(tmp_path / "s.ipynb")
    with BaseSession.from_notebook(path, backend="bubblewrap") as stopped:
        assert [entry.code for entry in stopped.history] == ["x = 20", "y = x + 1", "1 / 0"]
        assert stopped.get("y") == 21
    with BaseSession.from_notebook(path, backend="bubblewrap", stop_on_error=False) as whole:
        assert whole.get("z") == 3


def test_a_file_that_is_no_notebook_is_refused(session: BaseSession, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": 3}))
    with pytest.raises(ValidationError):
        session.run_notebook(path)


def test_the_report_holds_every_run(session: BaseSession, tmp_path: Path) -> None:
    session.run("print('<b>first</b>')")
    session.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    page = session.report(tmp_path / "r.html", title="A <title>").read_text()
    assert "&lt;b&gt;first" in page
    assert "A &lt;title&gt;" in page
    assert "data:image/png;base64," in page
    assert "<script" not in page


def test_a_timed_out_run_is_in_the_history(session: BaseSession) -> None:
    with pytest.raises(SandboxTimeoutError):
        session.run("print('before')\nwhile True: pass", timeout=0.5)
    assert session.history[-1].result.stdout == "before\n"


def test_the_rest_is_read_by_its_handle(session: BaseSession) -> None:
    result = session.run("print('\\n'.join(map(str, range(100_000))))")
    assert "left out" in texts(result.for_llm(max_tokens=300))
    assert result.read("stdout", offset=12, limit=5) == result.stdout[12:17]


def test_async_twins_do_the_same(tmp_path: Path) -> None:
    async def work() -> None:
        async with aio.create_session("bubblewrap") as session:
            await session.set("x", {"a": [1, 2.5, None]})
            assert await session.get("x") == {"a": [1, 2.5, None]}
            assert [item.name for item in await session.variables()] == ["x"]
            result = await session.run("import pandas as pd\npd.DataFrame({'a': range(300)})")
            whole = await session.fetch_table(result.tables[0])
            assert whole.count(b"\n") == 301
            path = await session.to_notebook(tmp_path / "n.ipynb")
        opened = await aio.AsyncSession.from_notebook(path, backend="bubblewrap")
        async with opened:
            assert len(opened.history) == 1

    asyncio.run(work())


MANY = """
import matplotlib.pyplot as plt
import pandas as pd
for n in range(20):
    print(f"region {n}")
    plt.plot([1, 2, 3], [n, 2 * n, 3 * n])
    plt.title(f"Region {n}")
    plt.show()
    display(pd.DataFrame({"sold": [n, 7], "price": [1.5, 2.5]}))
"""


@pytest.mark.parametrize("images", ["none", "auto"])
def test_many_things_are_told_in_order_and_the_last_with_data(session, images):
    """Each figure and table has its line after what was printed before it."""
    told = texts(session.run(MANY).for_llm(images=images))
    named = re.findall(r"region (\d+)|'Region (\d+)'|(2 rows x 2 columns)", told)
    kinds = [("print", a) if a else ("figure", b) if b else ("table", "") for a, b, _ in named]
    wanted = [(k, n) for n in map(str, range(20)) for k in ("print", "figure", "table")]
    wanted = [(kind, "" if kind == "table" else number) for kind, number in wanted]
    if images == "none":
        assert kinds == wanted
    else:
        # Pictures take half of the budget: the list is cut in its middle, and says by how much.
        left = re.search(r"\[(\d+) things and (\d+) pieces of output left out", told)
        assert left is not None
        listed = told[
            : told.rindex("```", 0, told.index("picture of") if "picture of" in told else None)
        ]
        count = len(re.findall(r"^[0-9a-f]{12} (?:figure|table)", listed, re.MULTILINE))
        assert count + int(left[1]) == 40
    # Values of the last ones.
    assert "| 3 | 57 |" in told
    assert "| 19 | 1.5 |" in told


@pytest.mark.parametrize("tokens", [300, 600, 2000])
def test_a_wide_table_shows_rows(session, tokens):
    """However many columns there are, what fits holds values, and says how many there are more."""
    result = session.run(
        "import numpy as np, pandas as pd\n"
        "pd.DataFrame(np.arange(6000).reshape(100, 60), "
        "columns=[f'measurement_{n}' for n in range(60)])"
    )
    told = texts(result.for_llm(max_tokens=tokens))
    lines = [line for line in told.splitlines() if line.startswith("| ")]
    head, values = lines[0], [line for line in lines[2:] if "left out" not in line]
    assert len(values) >= 2
    assert sum(map(len, values)) > len(head) / 2
    shown = head.count("|") - 1
    assert f"{60 - shown} more columns left out" in told
    assert f"… {100 - len(values)} rows left out …" in told
    assert "100 rows x 60 columns" in told


def test_a_picture_has_its_figures_title(session):
    told = texts(
        session.run(
            "import matplotlib.pyplot as plt\nplt.bar(['a'], [1])\n"
            "plt.title('Sales of \"A\"')\nplt.show()"
        ).for_llm()
    )
    assert re.search(r'picture of figure "Sales of \\"A\\"" \([0-9a-f]{12}\):', told)
