"""Ends by `sys.exit`: exit code, error and standard error, beside what Python says of a script."""

import subprocess
import sys

import pytest

from llm_sandbox import RunStatus, StateOutcome, create_session

CALLS = {
    "text": ("sys.exit('fatal: no')", "fatal: no"),
    "empty text": ("sys.exit('')", ""),
    "two": ("sys.exit(2)", "2"),
    "tuple": ("sys.exit((1, 2))", "(1, 2)"),
    "several": ("raise SystemExit('a', 3)", "('a', 3)"),
    "true": ("sys.exit(True)", "True"),
    "negative": ("sys.exit(-1)", "-1"),
    "over a byte": ("sys.exit(300)", "300"),
    "huge": ("sys.exit(1 << 70)", str(1 << 70)),
    "lines": ("sys.exit('one\\ntwo')", "one\ntwo"),
    "class": ("raise SystemExit", None),
    "none": ("sys.exit(None)", None),
    "zero": ("sys.exit(0)", None),
    "false": ("sys.exit(False)", None),
    "function": ("exit('by name')", "by name"),
    "awaited": (
        "import asyncio\nasync def main():\n    sys.exit('awaited')\nasyncio.run(main())",
        "awaited",
    ),
    "task": (
        (
            "import asyncio\nasync def leave():\n    sys.exit('task')\nasync def main():\n"
            "    await asyncio.create_task(leave())\nasyncio.run(main())"
        ),
        "task",
    ),
    "thread": (
        (
            "import threading\nt = threading.Thread(target=sys.exit, args=('x',))\n"
            "t.start(); t.join(); print('on')"
        ),
        None,
    ),
}
"""What a program does, and the value of the error that is reported; None for no error."""


@pytest.fixture(scope="module", params=[True, False], ids=["notebook", "scripts"])
def session(request):
    with create_session(lang="python", persistent=request.param) as opened:
        yield opened


@pytest.mark.parametrize("name", CALLS)
def test_an_exit_is_reported_as_a_script_reports_it(session, name):
    call, value = CALLS[name]
    code = f"import sys\nkept = 1\n{call}\n"
    stock = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    result = session.run(code)
    assert (stock.returncode, stock.stdout) == (result.exit_code, result.stdout)
    assert stock.stderr == result.stderr
    told = (result.error.name, result.error.value, result.error.kind) if result.error else None
    assert told == (None if value is None else ("SystemExit", value, "exit"))
    assert (RunStatus.OK if name == "thread" else RunStatus.EXITED) is result.status


def test_an_exception_of_ones_own_is_named(session):
    result = session.run(
        "class Done(SystemExit):\n    def __init__(self):\n        self.code = ['all']\nraise Done"
    )
    assert ("Done", "['all']", 1) == (result.error.name, result.error.value, result.exit_code)
    assert "['all']\n" == result.stderr


def test_a_text_that_cannot_be_made_is_no_reason_to_lose_the_run(session):
    result = session.run(
        "import sys\nclass Bad:\n    def __str__(self): raise ValueError('x')\nsys.exit(Bad())"
    )
    assert (RunStatus.EXITED, 1) == (result.status, result.exit_code)
    assert "raised ValueError" in result.error.value


@pytest.mark.parametrize("way", ["await asyncio.create_task(leave())", "await asyncio.sleep(9)"])
def test_a_task_that_exits_ends_the_cell_and_not_the_session(way):
    with create_session(lang="python") as session:
        result = session.run(
            "import asyncio, sys\nasync def leave():\n    sys.exit('from a task')\n"
            f"task = asyncio.create_task(leave())\n{way}\nprint('never')"
        )
        assert (RunStatus.EXITED, 1) == (result.status, result.exit_code)
        assert ("SystemExit", "from a task") == (result.error.name, result.error.value)
        assert ("", "from a task\n") == (result.stdout, result.stderr)
        assert StateOutcome.KEPT is result.state
        session.run(
            "def later():\n    fired.append(1)\n    sys.exit('between')\n"
            "fired = []\nasyncio.get_running_loop().call_later(0.01, later)"
        )
        # The loop runs between cells only: these await nothing.
        assert any(session.run("len(fired)").value == "1" for _ in range(2000))
        assert "on\n" == session.run("await asyncio.sleep(0)\nprint('on')").stdout
