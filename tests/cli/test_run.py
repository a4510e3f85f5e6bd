"""`llm-sandbox run`: streams, exit codes, figures, JSON."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import ExecutionResult, NetworkRules, RunStatus
from llm_sandbox.cli.options import DEFAULT_TIMEOUT_S, Network, SessionOptions, read_seconds
from llm_sandbox.cli.run import _checked_timeout, prepare_environment
from llm_sandbox.results.outputs import StreamOutput, from_dict
from llm_sandbox.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Done, Terminal  # for the type checker only

pytestmark = pytest.mark.usefixtures("isolation")

FIGURE = "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()"


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        (["-c", "print(6 * 7)"], 0, "42\n", ""),
        (["-c", "import sys; print('no', file=sys.stderr); sys.exit(3)"], 3, "", "no\n"),
        (["-c", "import sys; sys.exit('bye')"], 1, "", "bye\n"),
        (["-c", "1 / 0"], 1, "", "ZeroDivisionError: division by zero\n"),
        (["-c", "def ("], 1, "", "SyntaxError: invalid syntax\n"),
        (["-c", "import os; os.kill(os.getpid(), 11)"], 139, "", "SIGSEGV"),
        (["--timeout", "0.5", "-c", "print(1); import time; time.sleep(60)"], 124, "1\n", "0.5 s"),
        (["--policy", "strict", "-c", "import os; os.fork()"], 126, "", "refuses this code"),
        (["--policy", "strict", "-c", "print(1)"], 0, "1\n", ""),
        (["--memory", "100m", "-c", "bytearray(10**9)"], 1, "", "100 MiB of memory; --memory"),
        (["--env", "A=b=c", "-c", "import os; print(os.environ['A'])"], 0, "b=c\n", ""),
        (["-c", "input()"], 1, "", "--stdin FILE answers it"),
        (["-c", "1 + 1"], 0, "", ""),
        (["-c", "display('shown')"], 0, "'shown'\n", ""),
    ],
    ids=lambda value: value[-1][:30] if isinstance(value, list) else "",
)
def test_exit_codes(
    cli: Callable[..., Done], words: list[str], code: int, out: str, err: str
) -> None:
    """The exit code is the program's or says who ended it; the streams stay apart."""
    done = cli("run", *words)
    assert (code, out) == (done.code, done.out), done.err
    assert err in done.err
    assert done.err.endswith(err) or not err.endswith("\n")
    assert err or not done.err


def test_sandbox_failure(cli: Callable[..., Done]) -> None:
    """A sandbox that cannot be made is 125, told in a line with what to do."""
    words = ("run", "--backend", "bubblewrap", "-c", "print(1)")
    done = cli(*words, LLM_SANDBOX_BWRAP="/bin/false")
    assert (125, "") == (done.code, done.out)
    assert done.err.startswith("llm-sandbox: ")
    assert "hint: " in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["missing.py"], "there is no file missing.py"),
        (["."], "cannot read .: Is a directory"),
        (["binary.py"], "is not text in UTF-8"),
        (["some.py", "-c", "1"], "two programs"),
        (["-c", "1", "--lang", "klingon"], "'klingon' is not supported"),
        (["-c", "1", "--backend", "nsjail"], "backend 'nsjail'"),
        (["-c", "1", "--backend", "nowhere"], "backend 'nowhere'"),
        (["-c", "1", "--policy", "none"], "there is no security policy"),
        (["-c", "1", "--timeout", "-1"], "--timeout must be"),
        (["-c", "1", "--timeout", "nan"], "--timeout must be"),
        (["-c", "1", "--memory", "much"], "--memory must be a size"),
        (["-c", "1", "--env", "secret"], "--env KEY=VALUE"),
        (["-c", "1", "--file", "missing.csv"], "there is no missing.csv"),
        (["-c", "1", "--lib", "a b; c"], "package requirement"),
        (["-c", "1", "--network", "some"], "--network"),
        (["-c", "1", "--out", "some.py"], "--out takes a directory"),
        (["-c", "1", "--nonsense"], "--nonsense"),
        (["-", "--stdin", "-"], "cannot hold both"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage_errors(
    cli: Callable[..., Done], tmp_path: Path, words: list[str], says: str
) -> None:
    """A mistake on the command line is 2, names what is wrong, and never repeats a secret."""
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe")
    (tmp_path / "some.py").write_text("print(1)")
    done = cli("run", *words)
    assert (2, "") == (done.code, done.out)
    assert says in done.err
    assert "Traceback" not in done.err
    assert "secret" not in done.err


def test_no_program(terminal: Callable[..., Terminal]) -> None:
    """On a terminal without a program both ways to give one are named."""
    shell = terminal("run")
    assert 2 == shell.wait()
    assert "llm-sandbox run FILE" in shell.text
    assert "-c CODE" in shell.text


@pytest.mark.parametrize("words", [[], ["-"], ["program.py"]], ids=["pipe", "dash", "file"])
def test_sources(cli: Callable[..., Done], tmp_path: Path, words: list[str]) -> None:
    """The program comes from a pipe or a file."""
    source = "def f():\n\n    return 'é'\nprint(f())\n"
    (tmp_path / "program.py").write_text(source, encoding="utf-8")
    done = cli("run", *words, stdin=source)
    assert (0, "é\n", "") == done


def test_program_input(cli: Callable[..., Done], tmp_path: Path) -> None:
    """`input()` reads a file or standard input, and an end of it is an end of it."""
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    ask = "print(input(), input())"
    assert "one two\n" == cli("run", "--stdin", "in.txt", "-c", ask).out
    assert "1 2\n" == cli("run", "--stdin", "-", "-c", ask, stdin="1\n2").out
    ended = cli("run", "--stdin", "-", "-c", ask, stdin="1\n")
    assert 1 == ended.code
    assert "EOFError" in ended.err


def test_files(cli: Callable[..., Done], tmp_path: Path) -> None:
    """Files and directories are copied in, under their name or another."""
    (tmp_path / "a.txt").write_text("A")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b.txt").write_text("B")
    code = "print(*(open(p).read() for p in ('a.txt', 'deep/er/a', 'folder/b.txt')))"
    words = ["--file", "a.txt", "--file", "a.txt:deep/er/a", "-f", "folder"]
    assert (0, "A A B\n", "") == cli("run", *words, "-c", code)


def test_figures(cli: Callable[..., Done], tmp_path: Path) -> None:
    """Figures are counted, or saved in the directory that is named or in the default one."""
    counted = cli("run", "-c", FIGURE)
    assert (0, "", "llm-sandbox: 1 figure came back; --out DIR saves them\n") == counted
    assert [] == list(tmp_path.iterdir())
    cli("run", "--out", "a/b", "-c", FIGURE)
    default = cli("run", "-c", FIGURE, "--out")
    assert "figure-1.png" in default.err
    for folder in ("a/b", "llm-sandbox-output"):
        saved = (tmp_path / folder / "figure-1.png").read_bytes()
        assert saved.startswith(b"\x89PNG\r\n\x1a\n")


def test_json(cli: Callable[..., Done]) -> None:
    """`--json` prints the result and nothing else, and the library reads it."""
    done = cli("run", "--json", "-c", f"print('x'); {FIGURE}\nraise SystemExit(5)")
    result = ExecutionResult.from_json(done.out)
    assert (5, 5, "x\n", 1) == (done.code, result.exit_code, result.stdout, len(result.plots))
    assert "" == done.err


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (["--timeout", "0.5", "-c", "print(1)\nwhile True: pass"], 124, RunStatus.TIMEOUT),
        (["--policy", "strict", "-c", "import os; os.fork()"], 126, RunStatus.BLOCKED),
    ],
    ids=["timeout", "refused"],
)
def test_json_of_bad_ends(
    cli: Callable[..., Done], words: list[str], code: int, status: RunStatus
) -> None:
    """A timeout and a refusal are results, too."""
    done = cli("run", "--json", *words)
    result = ExecutionResult.from_json(done.out)
    assert (code, code, status) == (done.code, result.exit_code, result.status)


def test_json_of_failure(cli: Callable[..., Done]) -> None:
    """Where there is no result, the one document is the error."""
    done = cli("run", "--json", "--backend", "nsjail", "-c", "1")
    data = json.loads(done.out)
    assert "error" == data["type"]
    assert "UnsupportedBackendError" == data["error"]["type"]


def test_json_stream(cli: Callable[..., Done]) -> None:
    """`--stream` prints an event a line, and last the result."""
    code = "import sys; print(1); print(2, file=sys.stderr); 3"
    lines = cli("run", "--json", "--stream", "-c", code).out.splitlines()
    events = [from_dict(json.loads(line)) for line in lines[:-1]]
    assert StreamOutput("stdout", "1\n") == events[0]
    assert StreamOutput("stderr", "2\n") == events[1]
    result = ExecutionResult.from_json(lines[-1])
    assert events == list(result.outputs)


def test_nothing_is_kept_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A single run keeps nothing ready for another, unless the user's settings say so."""
    monkeypatch.setenv("LLM_SANDBOX_PREFORK", "3")
    monkeypatch.setenv("LLM_SANDBOX_PRELOAD", "")
    prepare_environment()
    settings = Settings.from_environment(os.environ)
    assert (3, "lean") == (settings.prefork, settings.preload)


def test_version_and_help(cli: Callable[..., Done]) -> None:
    """The commands describe themselves."""
    assert cli("--version").out.startswith("llm-sandbox 0.")
    helped = cli("run", "--help").out
    for word in ("--timeout", "--out", "124", "125", "126", "130"):
        assert word in helped


# --- arguments, names and the machine

SHOWS = "import sys\nprint(sys.argv, __name__)\n"


def test_arguments_of_a_script(cli: Callable[..., Done], tmp_path: Path) -> None:
    """It sees its own name and what stands after it; what begins with - stands after --."""
    (tmp_path / "s.py").write_text(SHOWS + "print(__file__)\n")
    done = cli("run", "s.py", "a", "--timeout", "60", "b", "--", "--flag", "-x")
    assert (0, "") == (done.code, done.err)
    said = ["['s.py', 'a', 'b', '--flag', '-x'] __main__", "/sandbox/s.py"]
    assert said == done.out.splitlines()
    assert "['-c', '-v', 'w'] __main__\n" == cli("run", "-c", SHOWS, "--", "-v", "w").out
    assert "['-', 'a'] __main__\n" == cli("run", "-", "a", stdin=SHOWS).out


def test_arguments_of_another_language(cli: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "s.sh").write_text('echo "$#: $1|$2"\n')
    assert "2: a b|-c\n" == cli("run", "s.sh", "a b", "--", "-c").out


def test_a_script_is_named_in_its_traceback(cli: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "calc.py").write_text("def half(x):\n    return x / 0\n\nhalf(1)\n")
    done = cli("run", "--json", "deep/calc.py")
    result = ExecutionResult.from_json(done.out)
    assert result.error is not None
    assert ("/sandbox/calc.py", 2) == (result.error.frames[-1].file, result.error.line)
    assert 'File "/sandbox/calc.py", line 4' in cli("run", "deep/calc.py").err
    assert () == result.artifacts


def test_unknown_endings_are_refused(cli: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("print(1)")
    (tmp_path / "book.ipynb").write_text("{}")
    (tmp_path / "plain").write_text("print(1)")
    refused = cli("run", "data.csv")
    assert (2, "") == (refused.code, refused.out)
    for word in (".py", ".rb", "--lang NAME"):
        assert word in refused.err
    assert "kernelspec" in cli("run", "book.ipynb").err
    assert "1\n" == cli("run", "--lang", "python", "data.csv").out
    assert "1\n" == cli("run", "plain").out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--backend", "bublewrap"], "did you mean bubblewrap?"),
        (["--lang", "pyhton"], "did you mean python?"),
        (["--network", "intrnet"], "did you mean internet?"),
        (["--memroy", "1g"], "did you mean --memory?"),
        (["--limit", "procesess=3"], "did you mean processes?"),
        (["--limit", "tmp=lots"], "must be a size"),
        (["--limit", "memory=1g", "--memory", "1g"], "limited twice"),
        (["--cpus", "all"], "expected a number"),
        (["--mount", "nowhere:/data"], "there is no nowhere"),
        (["--mount", ".:data"], "absolute PATH"),
        (["--network", "open", "--allow", "pypi.org"], "has no rules"),
        (["--network", "internet", "--allow", "pypi.org"], "allows more"),
        (["--deny", "pypi.org"], "closes what is closed"),
        (["--timeout", "soon"], "--timeout: expected a number"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_in_values(cli: Callable[..., Done], words: list[str], says: str) -> None:
    done = cli("run", *words, "-c", "1")
    assert (2, "") == (done.code, done.out)
    assert says in done.err


def test_mounts(cli: Callable[..., Done], tmp_path: Path) -> None:
    """A folder is shown read-only, and writable where that is asked for."""
    for name in ("seen", "shared"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    (tmp_path / "seen" / "a.txt").write_text("A")
    code = (
        "print(open('/in/a.txt').read())\n"
        "open('/out/b.txt', 'w').write('B')\n"
        "try:\n    open('/in/c.txt', 'w')\nexcept OSError as error:\n    print(error.errno)\n"
    )
    done = cli("run", "--mount", "seen:/in", "--mount", "shared:/out:rw", "-c", code)
    assert "A\n30\n" == done.out, done.err
    assert "B" == (tmp_path / "shared" / "b.txt").read_text()
    assert ["a.txt"] == [path.name for path in (tmp_path / "seen").iterdir()]


def test_limits(cli: Callable[..., Done]) -> None:
    """Each reaches the sandbox under its own name."""
    code = (
        "import os, resource\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[1])\n"
        "print(*(os.statvfs(p).f_blocks * os.statvfs(p).f_frsize >> 20 for p in ('.', '/tmp')))"
    )
    words = ("--limit", "open_files=77", "--disk", "20m", "--limit", "tmp=8m")
    assert "77\n20 8\n" == cli("run", *words, "-c", code).out


def test_the_output_limit(cli: Callable[..., Done]) -> None:
    done = cli("run", "--output-limit", "1k", "-c", "print('x' * 5000)")
    assert 0 == done.code
    assert len(done.out) < 5000
    assert "--output-limit sets another" in done.err
    assert 5001 == len(cli("run", "-c", "print('x' * 5000)").out)


def test_network_rules() -> None:
    """Names and addresses become the rules of the library."""
    both = SessionOptions(allow=["pypi.org", "10.0.0.5:5432"], deny=["x.pypi.org"])
    rules = NetworkRules.allow(domains=["pypi.org"], cidrs=["10.0.0.5:5432"], deny=["x.pypi.org"])
    assert rules == both.network_value()
    public = SessionOptions(network=Network.INTERNET, deny=["10.0.0.0/8"])
    assert NetworkRules.internet(deny=["10.0.0.0/8"]) == public.network_value()
    assert "blocked" == SessionOptions().network_value()


def test_there_is_a_deadline_that_can_be_lifted(cli: Callable[..., Done]) -> None:
    """It is said in the help, and holds unless another is named."""
    assert f"{DEFAULT_TIMEOUT_S:g} without it" in " ".join(cli("run", "--help").out.split())
    assert DEFAULT_TIMEOUT_S == _checked_timeout(None)
    assert _checked_timeout(read_seconds("none")) is None
    assert 1.5 == _checked_timeout(read_seconds("1.5"))
    assert "1\n" == cli("run", "--timeout", "none", "-c", "print(1)").out
