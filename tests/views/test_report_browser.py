"""The report in a real browser: what is to be seen is seen, and nothing in it runs."""

from __future__ import annotations

import base64
import contextlib
import html.parser
import http.server
import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import PIL.Image
import pytest

from llm_sandbox.results.charts import Chart
from llm_sandbox.results.tables import Table
from llm_sandbox.views.report import html_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.views.conftest import Run  # for the type checker only

pytestmark = pytest.mark.slow

RED, GREEN = (203, 31, 33), (18, 171, 52)


class Page(NamedTuple):
    """What a browser made of a page."""

    dom: str
    picture: PIL.Image.Image
    asked: list[str]
    """The paths that it asked our listener for."""


class Listener(http.server.ThreadingHTTPServer):
    """Counts who comes."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked: list[str] = []

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{name}"


class _Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def browse(tmp_path: Path, listener: Listener) -> Callable[[str], Page]:
    """Open a page in headless Chromium."""
    program = shutil.which("chromium")
    if program is None:
        missing = "no chromium here; apt-get install chromium brings it"
        if os.geteuid() == 0:
            pytest.fail(missing)
        pytest.skip(missing)

    def open_page(text: str) -> Page:
        page, picture, profile = (tmp_path / name for name in ("p.html", "p.png", "profile"))
        page.write_text(text, encoding="utf-8")
        listener.asked.clear()
        words = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-breakpad"]
        words += ["--no-first-run", "--hide-scrollbars", f"--user-data-dir={profile}"]
        # Time for scripts and fetches of the page, which a control shows to be enough.
        words += ["--virtual-time-budget=3000", "--window-size=1000,4000"]
        process = subprocess.Popen(
            [program, *words, f"--screenshot={picture}", "--dump-dom", page.as_uri()],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            dom = process.communicate(timeout=60)[0].decode("utf-8", "replace")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()
        assert 0 == process.returncode
        return Page(dom, PIL.Image.open(picture).convert("RGB"), list(listener.asked))

    return open_page


@pytest.fixture(autouse=True)
def no_browser_is_left(tmp_path: Path) -> Iterator[None]:
    yield
    end = time.monotonic() + 10
    while (left := processes_of(tmp_path)) and time.monotonic() < end:
        time.sleep(0.1)
    assert [] == left


def processes_of(folder: Path) -> list[str]:
    """The living processes whose command line names a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes()
            if str(folder).encode() in words:
                found.append(words.decode("utf-8", "replace"))
    return found


class Cells(html.parser.HTMLParser):
    """The texts of table cells, and the page's title."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.title = ""
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._in = tag
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in == "td":
            self.cells[-1] += data
        elif self._in == "title":
            self.title += data


def table(*rows: list[object], name: str = "alpha") -> Table:
    columns = [
        {"name": name, "type": "string", "dtype": "object", "role": "value"},
        {"name": "beta", "type": "integer", "dtype": "int64", "role": "value"},
    ]
    record = {"version": 1, "library": "pandas", "name": None, "columns": columns}
    record |= {"shape": [len(rows), 2], "head": list(rows), "tail": [], "handle": "t"}
    made = Table.from_record(record)
    assert made is not None
    return made


def bars(title: str, label: str = "n") -> Chart:
    axis = {"label": label, "scale": "linear", "limits": None, "ticks": [], "tick_labels": []}
    series = {"kind": "bar", "label": label, "color": "#12ab34", "axis": "y", "total": 2}
    series |= {"columns": {"x": ["left", label], "y": [4, 8]}, "sampling": None}
    record = {"version": 1, "library": "plotly", "kind": "bar", "title": title, "x": axis}
    record |= {"y": axis, "y2": None, "z": None, "orientation": "vertical", "stacking": None}
    record |= {"series": [series], "annotations": [], "charts": [], "row": None, "column": None}
    made = Chart.from_record(record)
    assert made is not None
    return made


def count(picture: PIL.Image.Image, colour: tuple[int, int, int], slack: int) -> int:
    """How many pixels are of a colour, about."""
    found: Any = picture.getcolors(picture.width * picture.height)
    return sum(
        number
        for number, seen in found
        if all(abs(a - b) <= slack for a, b in zip(seen, colour, strict=True))
    )


def test_figures_and_tables_are_seen(
    run: type[Run], picture: Callable[..., bytes], browse: Callable[[str], Page]
) -> None:
    """A picture, a drawing of a chart's data and a table's rows are visible on the page."""
    made = run().picture(picture(300, 120, RED))
    shown = {"text/plain": "alpha beta"}
    rows = [["first row", 11], ["second row", 22]]
    made.show(shown, "table", "text/plain", b"t", table=table(*rows))
    made.show({"text/html": ""}, "figure", "text/html", b"<div></div>", chart=bars("Sales"))
    page = browse(html_report("A session", [("df", made.result())]))
    assert ["first row", "11", "second row", "22"] == Cells(page.dom).cells[:4]
    assert 300 * 120 * 0.98 <= count(page.picture, RED, 2) <= 300 * 120
    # Two bars, one half as high as the other, over most of the drawing's width.
    assert 30_000 < count(page.picture, GREEN, 60)
    reds = [
        y
        for y in range(page.picture.height)
        if all(abs(a - b) <= 2 for a, b in zip(page.picture.getpixel((200, y)), RED, strict=True))  # type: ignore[arg-type]
    ]
    below = page.picture.crop((60, reds[-1] + 20, 400, reds[-1] + 200)).convert("L")
    dark = sum(value < 110 for value in below.get_flattened_data())
    assert 300 < dark < below.width * below.height / 4


def hostile(listener: Listener, name: str) -> str:
    """A script that says by three ways that it ran."""
    url = listener.url(name)
    return (
        f"document.title='RAN {name}';document.documentElement.setAttribute('data-ran','{name}');"
        f"new Image().src='{url}-image';fetch('{url}-fetch',{{mode:'no-cors'}})"
    )


def attacks(listener: Listener) -> dict[str, str]:
    """Markup that runs a script or fetches something where it is taken for markup."""
    return {
        "script": f"<script>{hostile(listener, 'script')}</script>",
        "onerror": f'<img src="x:" onerror="{hostile(listener, "onerror")}">',
        "svg": f'<svg onload="{hostile(listener, "svg")}"></svg>',
        "frame": f'<iframe src="javascript:{hostile(listener, "frame")}"></iframe>',
        "picture": f'<img src="{listener.url("picture")}">',
        "style": f"<style>body{{background:url({listener.url('style')})}}</style>",
        "object": f'<object data="{listener.url("object")}"></object>',
        "page": f'<iframe src="{listener.url("page")}"></iframe>',
        "refresh": f'<meta http-equiv="refresh" content="0;url={listener.url("refresh")}">',
        "sheet": f'<link rel="stylesheet" href="{listener.url("sheet")}">',
    }


@pytest.mark.parametrize(
    "name",
    ["script", "onerror", "svg", "frame", "picture", "style", "object", "page", "refresh", "sheet"],
)
def test_control(name: str, browse: Callable[[str], Page], listener: Listener) -> None:
    """Opened as a page of its own, each attack reaches the listener."""
    assert browse(f"<!DOCTYPE html><body>x{attacks(listener)[name]}</body>").asked


def test_nothing_runs(
    run: type[Run], picture: Callable[..., bytes], browse: Callable[[str], Page], listener: Listener
) -> None:
    """No attack works from any place of the report: nothing runs and nothing is fetched."""
    every = "".join(attacks(listener).values())
    breakout = f"\"'></iframe></pre></td></svg></figure></style></title></textarea>-->{every}"
    made = run().out(breakout).out(breakout, "stderr").value(breakout)
    made.show({"text/plain": breakout})
    made.show({"text/html": every}, "html", "text/html", f"<p>shown</p>{every}".encode())
    made.show({"text/html": every}, "html", "text/html", breakout.encode(), summary=breakout)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" '
        f'onload="{hostile(listener, "root")}"><script>{hostile(listener, "inner")}</script>'
        f'<image href="{listener.url("svg-image")}" width="9" height="9"/>'
        f'<rect width="40" height="40" fill="rgb{GREEN}"/></svg>'
    )
    made.show({"image/svg+xml": svg}, "figure", "image/svg+xml", svg.encode())
    urls = f"![p]({listener.url('md-image')}) [l](javascript:{hostile(listener, 'md-link')})"
    for text in (
        f"{urls}\n\n{breakout}",
        f"`{breakout}`",
        f"```x\n{breakout}",
        f"|{breakout}|\n|-|",
    ):
        made.show({"text/markdown": text}, "text", "text/markdown", text.encode())
    for name in ("href", "class", "style", "text", "color", "operatorname", "textcolor"):
        tex = (
            f"$\\{name}{{{breakout}}}{{x}} \\{name}{{javascript:{hostile(listener, 'tex')}}}{{x}}$"
        )
        made.show({"text/latex": tex}, "math", "text/latex", tex.encode())
    rows = table([breakout[:490], 1], name=breakout[:200])
    made.show({}, "table", "text/plain", b"t", table=rows)
    drawn = bars(breakout, breakout[:300])
    made.show({}, "figure", "text/html", every.encode(), chart=drawn, note=breakout)
    made.file(breakout, breakout.encode(), "text", "text/html")
    made.file("x.svg", svg.encode(), "image", "image/svg+xml")
    made.add("figure", f'image/png"><script>{hostile(listener, "mime")}</script>', picture())
    made.fail(breakout, breakout, breakout)
    result = made.result()
    page = browse(html_report(breakout, [(breakout, result), ("1", result)], metadata=breakout))
    assert [] == page.asked
    assert 'data-ran="' not in page.dom.replace("&quot;", "")
    title = Cells(page.dom).title
    assert title.startswith("\"'>")
    assert "RAN" not in title[:10]
    # The drawing itself is seen: it is an image, and images are harmless.
    assert 40 * 40 * 0.9 < count(page.picture, GREEN, 3)


def test_page_is_self_contained(run: type[Run], picture: Callable[..., bytes]) -> None:
    """All content is within the page, and there is no script in it."""
    made = run().picture(picture()).file("a.txt", b"hello")
    text = html_report("t", [("1", made.result())])
    assert "default-src 'none'" in text
    assert base64.b64encode(picture()).decode() in text
    assert (
        f'href="data:application/octet-stream;base64,{base64.b64encode(b"hello").decode()}"' in text
    )
    assert "<script" not in text
    assert ' src="http' not in text


def seen_text(page: Page) -> str:
    """The text of the page's elements, without what frames hold."""
    parser = Texts()
    parser.feed(page.dom)
    return " ".join(" ".join(parser.texts).split())


class Texts(html.parser.HTMLParser):
    """All text outside of styles."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._in = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._in = tag

    def handle_data(self, data: str) -> None:
        if self._in != "style":
            self.texts.append(data)


def test_markdown_and_formulas_are_set(run: type[Run], browse: Callable[[str], Page]) -> None:
    """A reader sees headings, lists, tables and fractions, and none of their source."""
    text = "## Findings\n\n- **first**\n- [second](https://example.com/x)\n\n|a|b|\n|-|-|\n|1|2|\n"
    made = run().show({"text/markdown": text}, "text", "text/markdown", text.encode())
    tex = r"$\displaystyle \frac{x^{2}}{4}$ and $y$"
    made.show({"text/latex": tex}, "math", "text/latex", tex.encode())
    broken = r"$\frac{$"
    made.show({"text/latex": broken}, "math", "text/latex", broken.encode())
    page = browse(html_report("t", [("1", made.result())]))
    for element in ("<h2>Findings", "<strong>first", "<td>1", "<mfrac", "<msup"):
        assert element in page.dom
    read = seen_text(page)
    assert "##" not in read
    assert "**" not in read
    assert r"\frac{x" not in read
    assert "Findings" in read
    assert 'title="https://example.com/x"' in page.dom
    assert '<a href="https' not in page.dom


def test_code_is_coloured_and_runs_have_titles(
    run: type[Run], browse: Callable[[str], Page]
) -> None:
    """A run is called by its first comment, or by its first line; keywords have a colour."""
    result = run().out("x\n").result()
    entries = [("# Load the data\nimport os", result), ("total = 1 < 2\n", result)]
    page = browse(html_report("t", [*entries, ("", result)]))
    assert '<span class="kn">import</span>' in page.dom
    read = seen_text(page)
    assert "1 Load the data" in read
    assert "2 total = 1 < 2" in read
    assert "3 runs" in read


def test_long_output_is_folded(run: type[Run], browse: Callable[[str], Page]) -> None:
    """Of 200 lines the first are seen, and all are there."""
    made = run().out("".join(f"line {number}\n" for number in range(200)))
    text = html_report("t", [("\n".join(f"x = {n}" for n in range(100)), made.result())])
    assert "180 more lines" in text
    assert "80 more lines" in text
    assert "line 199" in text
    page = browse(text)
    lines = [y for y in range(page.picture.height) if any_dark(page.picture, y)]
    assert lines[-1] < 1600  # 300 lines would take 6,000 pixels


def any_dark(picture: PIL.Image.Image, y: int) -> bool:
    row = picture.crop((0, y, picture.width, y + 1)).convert("L")
    return min(row.get_flattened_data()) < 100


def test_frames_are_as_high_as_what_they_show(
    run: type[Run], browse: Callable[[str], Page]
) -> None:
    """A short page has a low frame, a table of 15 rows is seen whole, a script's page is named."""
    last = '<td style="background:rgb(18,171,52)">14</td>'
    rows = "".join(f"<tr><td>{n}</td></tr>" for n in range(14))
    pages = [
        "<b>short</b>",
        f"<table>{rows}<tr>{last}</tr></table>",
        "<div></div><script>1</script>",
    ]
    made = run()
    for text in pages:
        made.show({"text/html": text}, "html", "text/html", text.encode())
    page = browse(html_report("t", [("1", made.result())]))
    heights = [int(found) for found in re.findall(r'style="height:(\d+)px"', page.dom)]
    assert len(heights) == 2
    assert heights[0] < 120
    assert 380 < heights[1] < 640
    assert count(page.picture, GREEN, 4) > 200
    assert "An interactive page" in page.dom
