"""Displays of a notebook besides plots: pages, pagers, the next cell's text; and its event loop."""

import pytest

from llm_sandbox import create_session
from llm_sandbox.views.artifact_text import html_text


@pytest.fixture(scope="module")
def session():
    with create_session(lang="python") as opened:
        yield opened


def _told(result):
    return "\n".join(str(part.get("text", "")) for part in result.for_llm())


def test_a_page_is_no_plot_and_its_text_is_read(session):
    result = session.run(
        "from IPython.display import HTML, display\n"
        "display(HTML('<style>p{}</style><h2>Sales</h2><p>up by <b>12</b> &amp; more</p>'))"
    )
    assert [] == result.plots
    assert ["text/html"] == [artifact.mime for artifact in result.artifacts]
    assert "Sales\nup by 12 & more" in _told(result)
    assert "IPython.core.display.HTML" not in _told(result)


def test_a_page_that_draws_is_a_plot(session):
    result = session.run("HTML('<div><svg width=\"9\"><rect/></svg></div>')")
    assert 1 == len(result.plots)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("len?", "Return the number of items"),
        ("def double(x):\n    return 2 * x\ndouble??", "return 2 * x"),
        ("%pdoc len", "Return the number of items"),
        ("get_ipython().set_next_input('x = 1')", "x = 1"),
        ("open('part.py', 'w').write('loaded = 1')\n%load part.py", "loaded = 1"),
    ],
)
def test_what_a_notebook_shows_elsewhere_is_output(session, code, words):
    result = session.run(code)
    assert words in result.stdout
    assert "\x1b" not in result.stdout


def test_the_event_loop_is_there_after_asyncio_run(session):
    session.run("import asyncio\nasync def main():\n    return 3\nasyncio.run(main())")
    code = "loop = asyncio.get_event_loop()\nprint(loop.run_until_complete(main()))"
    assert "3\n" == session.run(code).stdout
    assert "4\n" == session.run("async def four():\n    return 4\nprint(await four())").stdout


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a<br>b", "a\nb"),
        ("<table><tr><th>x<th>y<tr><td>1<td>2</table>", "x | y\n1 | 2"),
        ("1 < 2 &lt; 3", "1 < 2 < 3"),
        ("<script>var a = '<p>';</script>seen<!-- not", "seen"),
        ("<script>never ends", ""),
        ("<p " + "a" * 100, ""),
        ("<" * 50_000, "<" * 50_000),
    ],
)
def test_the_text_of_a_page(page, text):
    assert text == html_text(page)
