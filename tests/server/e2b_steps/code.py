"""Steps of E2B's Python SDK: code: results, charts, languages."""

import base64
import time
from typing import Any

import pytest
from e2b import (
    SandboxException,
    TimeoutException,
)
from e2b_code_interpreter.charts import (
    BarChart,
    BoxAndWhiskerChart,
    LineChart,
    PieChart,
    ScatterChart,
    SuperChart,
)

from tests.server.steps import Steps, World, code, do

STEPS = Steps()
step = STEPS


@step
async def code_prints(w: World) -> None:
    result = await code(w, "print('a'); print('b')")
    assert "a\nb\n" == "".join(result.logs.stdout)
    assert result.error is None


@step
async def code_has_a_value(w: World) -> None:
    assert "3" == (await code(w, "1 + 2")).text


@step
async def code_has_a_text_without_quotes(w: World) -> None:
    assert "plain" == (await code(w, "'plain'")).text


@step
async def code_keeps_variables(w: World) -> None:
    await code(w, "kept = 41")
    assert "42" == (await code(w, "kept + 1")).text


@step
async def code_counts_its_runs(w: World) -> None:
    first = (await code(w, "1")).execution_count
    assert first + 1 == (await code(w, "1")).execution_count


@step
async def code_raises(w: World) -> None:
    result = await code(w, "print('before')\n1/0")
    assert "before\n" == "".join(result.logs.stdout)
    assert ("ZeroDivisionError", "division by zero") == (result.error.name, result.error.value)
    assert "1/0" in result.error.traceback


@step
async def code_with_a_syntax_error(w: World) -> None:
    assert "SyntaxError" == (await code(w, "def")).error.name


@step
async def code_writes_to_both_streams(w: World) -> None:
    result = await code(w, "import sys; print('o'); print('e', file=sys.stderr)")
    assert ("o\n", "e\n") == ("".join(result.logs.stdout), "".join(result.logs.stderr))


@step
async def code_with_callbacks(w: World) -> None:
    out: list[Any] = []
    results: list[Any] = []
    errors: list[Any] = []
    await code(
        w,
        "print('x'); display(5); 1/0",
        on_stdout=out.append,
        on_result=results.append,
        on_error=errors.append,
    )
    assert "x\n" == "".join(message.line for message in out)
    assert out[0].timestamp > 1_700_000_000 * 10**9
    assert ["5"] == [result.text for result in results]
    assert ["ZeroDivisionError"] == [error.name for error in errors]


@step
async def code_output_comes_at_once(w: World) -> None:
    moments: list[float] = []
    text = "import time\nfor n in range(3):\n    print(n, flush=True)\n    time.sleep(0.4)"
    await code(w, text, on_stdout=lambda message: moments.append(time.monotonic()))
    assert moments[-1] - moments[0] > 0.3


@step
async def code_beyond_its_timeout(w: World) -> None:
    with pytest.raises(TimeoutException):
        await code(w, "import time; time.sleep(600)", timeout=1)
    assert "1" == (await code(w, "1", timeout=30)).text


@step
async def code_is_interrupted_with_its_client(w: World) -> None:
    with pytest.raises(TimeoutException):
        await code(w, "interrupted = 1\nwhile True: pass", timeout=3)
    assert "1" == (await code(w, "interrupted", timeout=30)).text


@step
async def code_with_variables_of_its_own(w: World) -> None:
    text = "import os; print(os.environ['GIVEN'], os.environ['CELL'])"
    assert "here v\n" == "".join((await code(w, text, envs={"CELL": "v"})).logs.stdout)
    assert "None" == (await code(w, "repr(os.environ.get('CELL'))")).text


@step
async def code_variables_are_in_no_history(w: World) -> None:
    await code(w, "1", envs={"SECRET_OF_A_CELL": "s3cr3t"})
    assert "False" == (await code(w, "'s3c' + 'r3t' in ''.join(In[:-1])")).text


@step
async def code_shows_a_picture(w: World) -> None:
    text = "import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4])\nplt.show()"
    (result,) = (await code(w, text)).results
    assert base64.b64decode(result.png).startswith(b"\x89PNG")


@step
async def code_shows_a_line_chart(w: World) -> None:
    text = (
        "plt.figure(); plt.plot([1, 2, 3], [4, 5, 6], label='up'); plt.title('T')\n"
        "plt.xlabel('x'); plt.ylabel('y'); plt.show()"
    )
    chart = (await code(w, text)).results[0].chart
    assert isinstance(chart, LineChart)
    assert ("T", "x", "y") == (chart.title, chart.x_label, chart.y_label)
    (line,) = chart.elements
    assert ("up", [(1, 4), (2, 5), (3, 6)]) == (line.label, line.points)


@step
async def code_shows_a_scatter_chart(w: World) -> None:
    chart = (
        (await code(w, "plt.figure(); plt.scatter([1, 2], [3, 4]); plt.show()")).results[0].chart
    )
    assert isinstance(chart, ScatterChart)
    assert [(1, 3), (2, 4)] == chart.elements[0].points


@step
async def code_shows_a_bar_chart(w: World) -> None:
    chart = (
        (await code(w, "plt.figure(); plt.bar(['a', 'b'], [3, 4]); plt.show()")).results[0].chart
    )
    assert isinstance(chart, BarChart)
    assert [("a", 3), ("b", 4)] == [(bar.label, bar.value) for bar in chart.elements]


@step
async def code_shows_a_pie_chart(w: World) -> None:
    text = "plt.figure(); plt.pie([1, 3], labels=['a', 'b']); plt.show()"
    chart = (await code(w, text)).results[0].chart
    assert isinstance(chart, PieChart)
    assert [("a", 90), ("b", 270)] == [(part.label, round(part.angle)) for part in chart.elements]


@step
async def code_shows_a_box_chart(w: World) -> None:
    chart = (
        (await code(w, "plt.figure(); plt.boxplot([[1, 2, 3, 4, 5]]); plt.show()")).results[0].chart
    )
    assert isinstance(chart, BoxAndWhiskerChart)
    (box,) = chart.elements
    assert (1, 2, 3, 4, 5) == (
        *(box.min, box.first_quartile, box.median, box.third_quartile, box.max),
    )


@step
async def code_shows_several_panels(w: World) -> None:
    text = (
        "fig, axes = plt.subplots(1, 2); axes[0].plot([1, 2], [1, 2])\n"
        "axes[1].bar(['a'], [1]); plt.show()"
    )
    chart = (await code(w, text)).results[0].chart
    assert isinstance(chart, SuperChart)
    assert [LineChart, BarChart] == [type(panel) for panel in chart.elements]


@step
async def code_shows_a_table(w: World) -> None:
    text = "import pandas as pd; pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})"
    (result,) = (await code(w, text)).results
    assert "<table" in result.html
    assert {"a": [1, 2], "b": ["x", "y"]} == result.data


@step
async def code_shows_html_markdown_and_latex(w: World) -> None:
    text = (
        "from IPython.display import HTML, Markdown, Latex, JSON, Javascript\n"
        "display(HTML('<b>h</b>'), Markdown('*m*'), Latex('$l$'), JSON({'j': 1}))"
    )
    found = (await code(w, text)).results
    assert "<b>h</b>" == found[0].html
    assert "*m*" == found[1].markdown
    assert "$l$" == found[2].latex
    assert {"j": 1} == found[3].json


@step
async def code_shows_a_type_of_its_own(w: World) -> None:
    text = "display({'application/vnd.mine+json': {'k': 1}, 'text/plain': 'p'}, raw=True)"
    (result,) = (await code(w, text)).results
    assert {"k": 1} == result.extra["application/vnd.mine+json"]


@step
async def code_sees_the_same_files(w: World) -> None:
    await do(w.box.files.write("data.csv", "n\n1\n2\n"))
    assert "3" == (await code(w, "int(pd.read_csv('data.csv').n.sum())")).text


@step
async def code_that_exits(w: World) -> None:
    await code(w, "import sys; sys.exit(0)")
    assert "1" == (await code(w, "1")).text


@step
async def code_that_kills_its_interpreter(w: World) -> None:
    result = await code(w, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert result.error is not None
    assert "1" == (await code(w, "1")).text


@step
async def code_in_an_unknown_language(w: World) -> None:
    with pytest.raises(SandboxException, match="cobol"):
        await code(w, "x", language="cobol")


@step
async def code_in_bash(w: World) -> None:
    await code(w, "shell_variable=5", language="bash")
    result = await code(w, "echo $shell_variable", language="bash")
    assert "5\n" == "".join(result.logs.stdout)


@step
async def code_in_javascript(w: World) -> None:
    await code(w, "const seven = 7", language="js")
    result = await code(w, "console.log(seven)", language="javascript")
    assert "7\n" == "".join(result.logs.stdout)


@step
async def code_in_javascript_with_variables(w: World) -> None:
    result = await code(w, "console.log(process.env.JS)", language="js", envs={"JS": "set"})
    assert "set\n" == "".join(result.logs.stdout)


@step
async def code_in_bash_with_variables(w: World) -> None:
    result = await code(w, "echo $SH; export", language="bash", envs={"SH": "it's"})
    assert "it's\n" in "".join(result.logs.stdout)
    result = await code(w, "echo [$SH]", language="bash")
    assert "[]\n" == "".join(result.logs.stdout)


@step
async def code_in_javascript_that_raises(w: World) -> None:
    result = await code(w, "throw new TypeError('bad')", language="js")
    assert ("TypeError", "bad") == (result.error.name, result.error.value)
