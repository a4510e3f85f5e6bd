"""Capture beyond the corpus: traces left behind, metadata, and the detector of changes."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(120)

SETUP = """
import matplotlib.pyplot as plt, numpy as np
fig = plt.figure()
ax = fig.add_subplot(121)
ax.plot([1, 2], label="u"); ax.imshow(np.eye(3)); ax.scatter([1], [1]); ax.bar([1], [2])
ax.text(0, 0, "h"); ax.legend(); fig.suptitle("o"); ax.set_xlabel("x")
inset = ax.inset_axes([0.1, 0.1, 0.2, 0.2]); table = ax.table([["1", "2"]])
solid = fig.add_subplot(122, projection="3d"); bar = fig.colorbar(ax.images[0])
fig.savefig("a.png")
"""
CHANGES = [
    "ax.set_title('t')",
    "ax.lines[0].set_color('r')",
    "ax.set_xlim(0, 9)",
    "ax.get_legend().get_texts()[0].set_text('z')",
    "ax.spines['top'].set_visible(False)",
    "ax.tick_params(labelsize=20)",
    "fig.suptitle('other')",
    "fig.set_size_inches(3, 3)",
    "fig.set_facecolor('r')",
    "ax.images[0].set_clim(0, 9)",
    "ax.images[0].set_data(np.zeros((3, 3)))",
    "ax.collections[0].set_offsets([[0.5, 1]])",
    "ax.patches[0].set_height(1.5)",
    "ax.texts[0].set_text('p')",
    "ax.xaxis.label.set_text('l')",
    "ax.xaxis.label.set_color('r')",
    "inset.set_title('k')",
    "table[0, 0].get_text().set_text('w')",
    "solid.view_init(10, 10)",
    "bar.set_label('bar')",
    "ax.twinx()",
    "ax.remove()",
]
NO_CHANGES = [
    "fig.canvas.draw()",
    "plt.draw()",
    "ax.get_xticklabels()",
    "fig.get_tightbbox()",
    "ax.get_xlim(), ax.get_lines(), fig.get_children()",
    "fig.savefig('b.pdf')",
    "fig.savefig('b.png', transparent=True, facecolor='r')",
    "fig.canvas.print_figure('c.png')",
]


@pytest.mark.sampled
@pytest.mark.parametrize("change", CHANGES)
def test_change_after_savefig_is_captured(cold: Any, plots: Any, change: str) -> None:
    answer = cold.run(f"{SETUP}{change}\nplt.show()")
    assert answer["errors"] == [None], answer["stdout"]
    assert plots(answer) == ["png@savefig", "png@show"]


@pytest.mark.parametrize("change", NO_CHANGES)
def test_no_change_gives_one_capture(cold: Any, plots: Any, change: str) -> None:
    # The second save has the options of show(), so that a false alarm is found out there.
    code = SETUP.replace('savefig("a.png")', "show()")
    answer = cold.run(f"{code}{change}\nplt.show()")
    assert answer["errors"] == [None], answer["stdout"]
    assert plots(answer) == ["png@show"]


def test_plain_code_leaves_no_trace(cold: Any) -> None:
    answer = cold.run("x = 1\nprint(x)")
    assert answer["modules"] == []
    assert [name for name in answer["names"] if not name.startswith("_i")] == ["x"]
    assert (answer["stdout"], answer["stderr"], answer["records"]) == ("1\n", "", [])


def test_plot_leaves_no_names(zygote: Any) -> None:
    answer = zygote.run("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()")
    assert [name for name in answer["names"] if not name.startswith("_i")] == ["plt"]


def test_user_error_shows_no_frame_of_ours(zygote: Any) -> None:
    answer = zygote.run("import matplotlib.pyplot as plt\nplt.plot([1])\n\n1 / 0")
    assert "line 4" in answer["stdout"]
    assert "shim" not in answer["stdout"]


def test_missing_module_shows_no_frame_of_ours(cold: Any) -> None:
    answer = cold.run("import no_such_module")
    assert "shim" not in answer["stdout"]


def test_saved_bytes_are_the_captured_bytes(zygote: Any) -> None:
    answer = zygote.run(
        "import matplotlib.pyplot as plt, base64\nplt.plot([1, 2])\n"
        "plt.savefig('a.png', dpi=37)\nprint(base64.b64encode(open('a.png', 'rb').read()).decode())"
    )
    assert answer["records"][0]["data"]["image/png"] == answer["stdout"].strip()


def test_png_is_not_upscaled(zygote: Any) -> None:
    answer = zygote.run("import matplotlib.pyplot as plt\nplt.figure()\nplt.show()")
    png = base64.b64decode(answer["records"][0]["data"]["image/png"])
    assert struct.unpack(">II", png[16:24]) == (640, 480)
    assert answer["records"][0]["data"]["text/plain"].startswith("<Figure size 640x480")


def test_figures_keep_their_number_order(zygote: Any) -> None:
    answer = zygote.run(
        "import matplotlib.pyplot as plt\n"
        "for n in (3, 1, 2):\n    plt.figure(n, figsize=(n, 1)).add_subplot()\nNone"
    )
    texts = [record["data"]["text/plain"] for record in answer["records"]]
    assert [text.split()[2] for text in texts] == ["100x100", "200x100", "300x100"]


def test_background_hint_of_the_inline_backend_stays(zygote: Any) -> None:
    answer = zygote.run(
        "import matplotlib.pyplot as plt\nfig, ax = plt.subplots(facecolor='none')\nplt.show()"
    )
    metadata = answer["records"][0]["metadata"]
    assert metadata["needs_background"] == "light"
    assert metadata["llm_sandbox"]["source"] == "matplotlib"


def test_retina_size_stays_in_the_metadata(zygote: Any) -> None:
    answer = zygote.run(
        "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.close()\n"
        "%config InlineBackend.figure_formats = ['retina']\nplt.plot([1])\nplt.show()"
    )
    assert set(answer["records"][0]["metadata"]["image/png"]) == {"width", "height"}


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import pandas as pd\npd.DataFrame({'a': [1]})", "pandas.DataFrame"),
        ("from IPython.display import HTML\nHTML('<b>')", "IPython.core.display.HTML"),
        ("class A:\n    def _repr_html_(self): return 'x'\nA()", "__main__.A"),
        ("1 + 1", None),
    ],
)
def test_rich_displays_name_their_type(zygote: Any, code: str, name: str | None) -> None:
    metadata = zygote.run(code)["records"][0]["metadata"]
    assert metadata == ({"llm_sandbox": {"type": name}} if name else {})


def test_repr_that_saves_a_figure_is_one_display(zygote: Any) -> None:
    answer = zygote.run(
        "from matplotlib.figure import Figure\nimport io\nclass A:\n    def _repr_png_(self):\n"
        "        b = io.BytesIO(); Figure().savefig(b); return b.getvalue()\nA()"
    )
    assert [record["type"] for record in answer["records"]] == ["execute_result"]


def test_plotly_bundle(zygote: Any) -> None:
    answer = zygote.run(
        "import plotly.express as px\nfig = px.bar(x=[1], y=[2], title='T')\nfig.show()"
    )
    data = answer["records"][0]["data"]
    assert set(data) == {
        "application/vnd.llm-sandbox.chart+json",
        "application/vnd.plotly.v1+json",
        "text/html",
        "text/plain",
    }
    assert data["text/plain"] == "<plotly Figure: 1 trace (bar), title 'T'>"
    assert answer["stdout"] == ""


def test_import_hook_keeps_the_module_as_it_is(cold: Any) -> None:
    answer = cold.run(
        "import inspect, matplotlib.figure as f\n"
        "assert 'exec_module' not in vars(f.__loader__)\n"
        "assert f.__spec__.origin.endswith('figure.py')\n"
        "assert 'class Figure' in inspect.getsource(f.Figure)\n"
        "assert inspect.signature(f.Figure.savefig).parameters.keys() >= {'fname', 'transparent'}"
    )
    assert answer["errors"] == [None], answer["stdout"]
