"""Conformance suite of the artifacts of runs."""

import sys

import pytest

from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import ArtifactNotFoundError, SandboxTimeoutError
from llm_sandbox.results.outputs import DisplayOutput
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.session_fixtures import SessionFixtures

__all__ = ["SessionArtifactSuite"]

_FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 4]); plt.title('T'); plt.show()\n"


class SessionArtifactSuite(SessionFixtures):
    """Artifacts of displays, and the session's memory of its runs."""

    def test_a_figure_comes_with_its_data(self, shared: BaseSession) -> None:
        """A line chart's artifact has the title and the exact values that were drawn."""
        result = shared.run(_FIGURE)

        assert [item.type for item in result.artifacts] == [ArtifactType.FIGURE]
        (chart,) = result.charts
        assert (chart.kind, chart.title) == ("line", "T")
        assert list(chart.series[0].columns["y"]) == [1, 2, 4]

    def test_a_table_comes_with_its_values(self, shared: BaseSession) -> None:
        """A displayed frame is a table artifact with names, shape and rows."""
        result = shared.run("import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})")

        assert [item.type for item in result.artifacts] == [ArtifactType.TABLE]
        assert result.tables[0].shape == (2, 2)
        assert "| x" in result.tables[0].to_markdown()

    def test_the_whole_table_can_be_fetched(self, shared: BaseSession) -> None:
        """A table that is longer than its preview is fetched whole, as CSV."""
        result = shared.run("import pandas as pd\nt = pd.DataFrame({'a': range(5000)})\nt")

        assert len(result.tables[0].head) < 5000
        lines = shared.fetch_table(result.tables[0]).decode().splitlines()
        assert len(lines) == 5001
        assert lines[-1].endswith("4999")

    def test_equal_content_is_one_artifact(self, shared: BaseSession) -> None:
        """The same picture shown twice is one artifact that names both places."""
        code = "from IPython.display import HTML, display\nfor _ in range(2): display(HTML('<p>x'))"
        (artifact,) = shared.run(code).artifacts

        assert len(artifact.outputs) == 2

    def test_tables_that_only_look_the_same_stay_apart(self, shared: BaseSession) -> None:
        """Two long tables that differ where nothing is shown are two artifacts, each fetchable."""
        code = (
            "import pandas as pd\none = pd.DataFrame({'a': range(5000)})\n"
            "two = one.copy(); two.loc[2500, 'a'] = -7\ndisplay(one); display(two)"
        )
        tables = shared.run(code).tables

        assert len(tables) == 2
        assert [b"-7" in shared.fetch_table(table) for table in tables] == [False, True]

    def test_an_updated_display_is_one_artifact(self, shared: BaseSession) -> None:
        """Of a display that is updated the last form counts."""
        code = (
            "from IPython.display import HTML\n"
            "h = display(HTML('<p>old'), display_id=True); h.update(HTML('<p>new'))"
        )
        (artifact,) = shared.run(code).artifacts

        assert "new" in artifact.read_text()

    def test_rich_values_are_typed(self, shared: BaseSession) -> None:
        """Formulas, documents, data and sound are artifacts of their own types, in order."""
        code = (
            "from IPython.display import Audio, HTML, JSON, Latex, Markdown, SVG, display\n"
            "display(Latex('$x$'), Markdown('# a'), JSON({'a': 1}), HTML('<p>h</p>'))\n"
            'display(SVG(\'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="7"/>\'))\n'
            "display(Audio([0.0, 0.5] * 4000, rate=8000))\n"
        )
        types = [item.type.value for item in shared.run(code).artifacts]

        assert types == ["math", "text", "json", "html", "image", "audio"]

    def test_plain_values_are_no_artifacts(self, shared: BaseSession) -> None:
        """Text and numbers are output, and nothing to save."""
        assert shared.run("print('x')\ndisplay('text')\n41 + 1").artifacts == ()

    def test_what_lies_about_itself_is_named(self, shared: BaseSession) -> None:
        """Bytes that are not what they are displayed as are kept, with a note, as no picture."""
        code = (
            "import base64; text = base64.b64encode(b'MZ no picture' * 9).decode()\n"
            "get_ipython().display_pub.publish({'image/png': text, 'text/plain': 'p'})"
        )
        result = shared.run(code)

        assert result.plots == []
        assert [item.type for item in result.artifacts] == [ArtifactType.OTHER]
        assert "image/png" in result.artifacts[0].note

    @pytest.mark.parametrize(
        "ending",
        ["raise ValueError", "import sys; sys.exit(3)", "import os; os.kill(os.getpid(), 9)"],
    )
    def test_what_was_shown_before_the_end_is_there(self, own: BaseSession, ending: str) -> None:
        """A figure shown before an exception, an exit or a kill comes back, once."""
        result = own.run(_FIGURE + ending)

        assert result.exit_code != 0
        assert [chart.kind for chart in result.charts] == ["line"]

    def test_what_was_shown_before_a_timeout_is_there(self, shared: BaseSession) -> None:
        """A figure shown before the time was up comes with the partial result."""
        with pytest.raises(SandboxTimeoutError) as caught:
            shared.run(_FIGURE + "while True: pass", timeout=1 + self.stopped_within_s)

        assert isinstance(caught.value.result, ExecutionResult)
        assert len(caught.value.result.charts) == 1

    def test_a_result_is_small_until_it_is_asked(self, shared: BaseSession) -> None:
        """A result with megabytes of pictures holds none of them as text."""
        code = (
            "from PIL import Image; import os\n"
            "for _ in range(4): display(Image.frombytes('RGB', (700, 700), os.urandom(1470000)))"
        )
        result = shared.run(code)

        assert sum(item.size for item in result.artifacts) > 4_000_000
        displays = [item.data for item in result.outputs if isinstance(item, DisplayOutput)]
        held = [value for data in displays for value in data._values.values()]  # type: ignore[attr-defined]
        assert len(held) >= 4
        assert sum(map(sys.getsizeof, held)) < 10_000
        assert result.artifacts[0].bytes() == result.plots[0].bytes()

    def test_a_result_and_its_artifacts_survive_json(self, shared: BaseSession) -> None:
        """Facts, content, charts and tables come back from JSON."""
        result = shared.run(_FIGURE + "import pandas as pd\npd.DataFrame({'a': [1]})")
        back = ExecutionResult.from_json(result.to_json())

        assert back.artifacts == result.artifacts
        assert back.charts == result.charts

    def test_the_session_remembers_its_runs(self, own: BaseSession) -> None:
        """Codes and results are kept in order, and an artifact is found by its id."""
        own.run("x = 1")
        figure = own.run(_FIGURE).artifacts[0]

        assert [entry.code for entry in own.history] == ["x = 1", _FIGURE]
        assert own.artifact(figure.id[:6]) == figure
        with pytest.raises(ArtifactNotFoundError):
            own.artifact("nothing")
