"""Notebooks in sandboxes, by the tools that people run them with."""

import gc
import json
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupyter_kernel_test
import nbclient
import nbformat
import pytest
from jupyter_client.manager import KernelManager, start_new_kernel

from tests.integrations.notebooks import NOTEBOOKS

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.usefixtures("kernels"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_MOVING = re.compile(
    r"0x[0-9a-f]+|/tmp/ipykernel_\d+/\d+\.py|Wall time: .*|CPU times: .*|In\[\d+\]"
)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """Event loops that Jupyter's clients leave to the collector go with their module."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="session")
def outside(kernels: Path) -> str:
    """The ordinary kernel of this environment."""
    folder = kernels / "data" / "kernels" / "plain"
    folder.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Plain", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    return "plain"


def execute(cells: list[str], kernel: str, folder: Path) -> Any:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    client = nbclient.NotebookClient(
        notebook,
        kernel_name=kernel,
        timeout=90,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    return client.execute()


def seen(notebook: Any) -> list[list[Any]]:
    """What a reader sees, without what differs from run to run."""
    return [_merged(_seen(output) for output in cell.outputs) for cell in notebook.cells]


def _seen(output: Any) -> tuple[str, Any]:
    if output.output_type == "stream":
        return output.name, _still(output.text)
    if output.output_type == "error":
        return "error", (output.ename, output.evalue)
    # Ours come beside what the ordinary kernel shows.
    kinds = sorted(kind for kind in output.data if "llm-sandbox" not in kind)
    return output.output_type, (kinds, _still(output.data.get("text/plain", "")))


def _still(text: str) -> str:
    return _MOVING.sub("?", _COLOURS.sub("", text))


def _merged(outputs: Any) -> list[Any]:
    """Streams as one text each, however they were cut, before what is shown."""
    texts: dict[str, str] = {}
    rest = []
    for kind, value in outputs:
        if kind in ("stdout", "stderr"):
            texts[kind] = texts.get(kind, "") + value
        else:
            rest.append((kind, value))
    return [*sorted(texts.items()), *rest]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_shows_the_same_inside(name: str, outside: str, tmp_path: Path) -> None:
    """The same outputs as from the ordinary kernel, cell by cell."""
    cells = NOTEBOOKS[name]
    within = tmp_path / "inside"
    beside = tmp_path / "outside"
    within.mkdir()
    beside.mkdir()
    inside = seen(execute(cells, "sandboxed", within))
    plain = seen(execute(cells, outside, beside))
    if name in ("magics", "warnings"):
        # They tell where they ran.
        inside, plain = [json.loads(_placeless(cells_)) for cells_ in (inside, plain)]
    assert inside == plain
    assert list(within.iterdir()) == []


def _placeless(cells: list[list[Any]]) -> str:
    return re.sub(r"<cell \d+>|\?|'?/[\w/.-]+'?(:\d+)?", "PLACE", json.dumps(cells))


def test_files_beside_the_notebook_are_there(tmp_path: Path) -> None:
    """Those that the kernelspec names, and no others."""
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    (tmp_path / "secret.txt").write_text("no")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "more.json").write_text("[1]")
    cell = "import os\nprint(sorted(os.listdir('.')), open('data/more.json').read())"
    done = execute([cell], "sandboxed", tmp_path)
    assert done.cells[0].outputs[0].text == "['data', 'table.csv'] [1]\n"


def test_a_file_that_is_not_there_is_told_how_it_comes_in(tmp_path: Path) -> None:
    """Where it is beside the notebook; of others nothing is said."""
    (tmp_path / "secret.txt").write_text("no")
    cells = ["open('secret.txt')", "open('none.txt')", f"open({str(tmp_path)!r} + '/secret.txt')"]
    done = execute(cells, "sandboxed", tmp_path)
    told = ["--file secret.txt" in cell.outputs[0].traceback[-1] for cell in done.cells]
    assert told == [True, False, False]
    assert not any("--file" in cell.outputs[0].evalue for cell in done.cells)


def test_a_kernelspec_has_logos(tmp_path: Path) -> None:
    from llm_sandbox.integrations.jupyter import install_kernelspec

    placed = install_kernelspec("drawn", backend="bubblewrap", prefix=str(tmp_path))
    assert (placed / "logo-64x64.png").read_bytes().startswith(b"\x89PNG")
    assert {"logo-32x32.png", "logo-svg.svg"} <= {path.name for path in placed.iterdir()}


def test_nothing_of_this_computer_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither its variables nor its files, which the ordinary kernel has."""
    monkeypatch.setenv("A_SECRET", "42")
    cell = f"import os\nprint(os.environ.get('A_SECRET'), os.path.exists({str(tmp_path)!r}))"
    assert execute([cell], "sandboxed", tmp_path).cells[0].outputs[0].text == "None False\n"


def test_the_control_has_both(
    outside: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same cell in the ordinary kernel sees what it looks for."""
    monkeypatch.setenv("A_SECRET", "42")
    cell = f"import os\nprint(os.environ.get('A_SECRET'), os.path.exists({str(tmp_path)!r}))"
    assert execute([cell], outside, tmp_path).cells[0].outputs[0].text == "42 True\n"


@pytest.fixture
def started() -> Any:
    manager, client = start_new_kernel(kernel_name="sandboxed", startup_timeout=90)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def ask(client: Any, code: str, **options: Any) -> tuple[dict[str, Any], str]:
    """Run a cell; returns its reply and what it printed."""
    printed: list[str] = []

    def hear(message: Any) -> None:
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    reply = client.execute_interactive(code, output_hook=hear, timeout=60, **options)
    return reply["content"], "".join(printed)


def test_an_interrupt_stops_the_cell_and_keeps_variables(
    started: tuple[KernelManager, Any],
) -> None:
    """As the stop button does."""
    manager, client = started
    ask(client, "x = 41")
    timer = threading.Timer(1.5, manager.interrupt_kernel)
    timer.start()
    reply, _ = ask(client, "while True: pass")
    assert reply["ename"] == "KeyboardInterrupt"
    assert ask(client, "print(x + 1)")[1] == "42\n"


def test_a_restart_forgets_variables_and_keeps_files(started: tuple[KernelManager, Any]) -> None:
    """As outside: files are on the disk."""
    manager, client = started
    ask(client, "x = 1\nopen('kept.txt', 'w').write('here')")
    manager.restart_kernel(now=True)
    client.wait_for_ready(timeout=90)
    reply, _ = ask(client, "x")
    assert reply["ename"] == "NameError"
    assert ask(client, "print(open('kept.txt').read())")[1] == "here\n"


def test_input_is_asked_for(started: tuple[KernelManager, Any]) -> None:
    """Questions go to the front end, and answers come back."""
    _, client = started

    def answer(message: Any) -> None:
        client.input({"name? ": "Ada", "age? ": "36"}[message["content"]["prompt"]])

    code = "print(input('name? '), input('age? '))"
    _, printed = ask(client, code, allow_stdin=True, stdin_hook=answer)
    assert printed == "Ada 36\n"


def test_late_output_goes_to_the_cell_that_started_it(started: tuple[KernelManager, Any]) -> None:
    """What a thread prints and shows after its cell carries that cell's parent header."""
    _, client = started
    first = client.execute(
        "import threading\nfrom IPython.display import HTML\ngo = threading.Event()\n"
        "def work():\n    go.wait()\n    print('late')\n    display(HTML('<b>late</b>'))\n"
        "thread = threading.Thread(target=work); thread.start()"
    )
    second = client.execute("go.set(); thread.join(); print('mine')")
    timer = client.execute("threading.Timer(1, print, ['between']).start()")
    parents = {}
    while "between" not in parents:
        message = client.get_iopub_msg(timeout=60)
        content, kind = message["content"], message["msg_type"]
        if kind in ("stream", "display_data"):
            shown = content.get("text") or content["data"]["text/html"]
            parents[shown.strip()] = message["parent_header"]["msg_id"]
    assert parents == {"late": first, "<b>late</b>": first, "mine": second, "between": timer}


def test_cells_after_an_error_are_given_up(started: tuple[KernelManager, Any]) -> None:
    """What was sent before the error is known is answered, and not run."""
    _, client = started
    sent = [client.execute("import time; time.sleep(3); 1 / 0"), client.execute("y = 1")]
    replies = {}
    while len(replies) < len(sent):
        message = client.get_shell_msg(timeout=60)
        replies[message["parent_header"]["msg_id"]] = message["content"]["status"]
    assert [replies[number] for number in sent] == ["error", "aborted"]
    assert ask(client, "y")[0]["ename"] == "NameError"


def test_a_kernel_that_dies_is_seen(started: tuple[KernelManager, Any]) -> None:
    """A front end then offers a restart, which works."""
    manager, client = started
    client.execute("import os; os._exit(3)")
    deadline = time.monotonic() + 60
    while manager.is_alive() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not manager.is_alive()
    manager.restart_kernel(now=True)
    client.wait_for_ready(timeout=90)
    assert ask(client, "print('back')")[1] == "back\n"


@pytest.mark.parametrize(
    "data",
    [
        "{'a': 'x' * 3000}", "list(range(5000))", "[{'x': n} for n in range(30_000)]",
        "{'deep': [[[[list(range(100_000))]]]]}",
    ],
    ids=["object", "list", "rows", "nested"],
)  # fmt: skip
def test_large_json_is_shown_as_what_it_is(tmp_path: Path, data: str) -> None:
    """Objects and arrays reach the notebook as such, however large."""
    mime = "application/vnd.test+json"
    code = f"display({{{mime!r}: {data}}}, raw=True)"
    notebook = execute([code], "sandboxed", tmp_path)
    assert notebook.cells[0].outputs[0].data[mime] == eval(data)


def test_short_text_under_a_json_type_stays_text(tmp_path: Path) -> None:
    """As from the ordinary kernel: only what had been moved out of the message is decoded."""
    code = "display({'application/json': '123', 'application/vnd.x+json': [1]}, raw=True)"
    data = execute([code], "sandboxed", tmp_path).cells[0].outputs[0].data
    assert (data["application/json"], data["application/vnd.x+json"]) == ("123", [1])


def test_widgets_and_front_ends_speak_to_each_other(started: tuple[KernelManager, Any]) -> None:
    """A comm that the kernel opens reaches the front end, and what that sends is answered."""
    _, client = started
    client.execute(
        "from comm import create_comm\n"
        "comm = create_comm(target_name='echo', data={})\n"
        "comm.on_msg(lambda message: comm.send({'heard': message['content']['data']}))"
    )
    opened = published(client, "comm_open")["content"]
    said = client.session.msg("comm_msg", {"comm_id": opened["comm_id"], "data": {"value": 7}})
    client.shell_channel.send(said)
    assert published(client, "comm_msg")["content"]["data"] == {"heard": {"value": 7}}


def published(client: Any, kind: str) -> Any:
    """The next message of a kind."""
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["msg_type"] == kind:
            return message


def test_large_messages_of_widgets_arrive(started: tuple[KernelManager, Any]) -> None:
    """A comm's state of many small values passes through, and the kernel lives."""
    _, client = started
    client.execute(
        "from comm import create_comm\n"
        "comm = create_comm(target_name='t', data={'options': [str(n) for n in range(200_000)]})"
    )
    opened = published(client, "comm_open")
    assert opened["content"]["target_name"] == "t"
    assert opened["content"]["data"]["options"][-1] == "199999"
    reply = client.execute_interactive("1 + 1", timeout=60)
    assert reply["content"]["status"] == "ok"


def test_a_policy_refuses_cells(tmp_path: Path) -> None:
    """A cell that it refuses is an error with what to write instead; others run."""
    from llm_sandbox.integrations.jupyter import install_kernelspec

    install_kernelspec("guarded", backend="bubblewrap", policy="production")
    done = execute(["import os\nos.system('id')", "print('fine')"], "guarded", tmp_path)
    assert done.cells[0].outputs[0].ename == "SecurityViolation"
    assert "os.system" in done.cells[0].outputs[0].evalue
    assert done.cells[1].outputs[0].text == "fine\n"


def test_papermill_runs_a_notebook_with_parameters(tmp_path: Path) -> None:
    """From its own command line."""
    cells = [nbformat.v4.new_code_cell("n = 1"), nbformat.v4.new_code_cell("print(n * 2)")]
    cells[0].metadata["tags"] = ["parameters"]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {
        "name": "sandboxed",
        "display_name": "Sandbox",
        "language": "python",
    }
    nbformat.write(notebook, tmp_path / "in.ipynb")
    argv = [sys.executable, "-m", "papermill", "in.ipynb", "out.ipynb", "-p", "n", "21"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=110, env=env)
    assert done.returncode == 0, done.stderr
    assert nbformat.read(tmp_path / "out.ipynb", 4).cells[-1].outputs[0].text == "42\n"


@pytest.mark.usefixtures("kernels")
class TestProtocol(jupyter_kernel_test.KernelTests):  # type: ignore[misc]
    """The suite that Jupyter has for kernels."""

    kernel_name = "sandboxed"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    code_page_something = "zip?"
    code_generate_error = "raise"
    code_clear_output = "from IPython.display import clear_output; clear_output()"
    completion_samples = [  # noqa: RUF012 - as the suite has them
        {"text": "zi", "matches": {"zip"}},
        {"text": "import coll", "matches": {"collections"}},
    ]
    complete_code_samples = ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n\n"]  # noqa: RUF012
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2"]  # noqa: RUF012
    invalid_code_samples = ["import = 7q"]  # noqa: RUF012
    code_inspect_sample = "zip"
    supported_history_operations = ("tail", "range", "search")
    code_execute_result = [  # noqa: RUF012
        {"code": "1+2+3", "result": "6"},
        {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"},
    ]
    code_display_data = [  # noqa: RUF012
        {
            "code": "from IPython.display import HTML, display; display(HTML('x'))",
            "mime": "text/html",
        },
        {
            "code": "from IPython.display import Math, display; display(Math('x'))",
            "mime": "text/latex",
        },
    ]
