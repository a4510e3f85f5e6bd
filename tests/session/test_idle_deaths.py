"""Interpreters that end between two runs."""

import time

import pytest

from llm_sandbox import RunStatus, StateOutcome, create_session

NOTE = "The interpreter had ended before this run ({}) and was started again"
KILLED = (
    "import os, subprocess\n"
    "subprocess.Popen(['sh', '-c', f'sleep 0.3; kill -{signal} {os.getpid()}'],"
    " start_new_session=True)\n"
)
LEFT = "import os, threading\nthreading.Timer(0.3, os._exit, [{signal}]).start()\n"
SPOKE = (
    "import os, threading\n"
    "def leave():\n    print('last words', flush=True)\n    os._exit({signal})\n"
    "threading.Timer(0.3, leave).start()\n"
)


def after(code: str, **options: object):
    """The result of a run after an idle second that followed another run."""
    with create_session(lang="python", **options) as session:
        session.run("open('kept', 'w').write('yes')\nx = 1")
        first = session.run(code)
        time.sleep(1.0)
        second = session.run("print(open('kept').read(), 'x' in globals())\ny = 2")
        third = session.run("print('y' in globals())")
        return first, second, third, session.background_output()


@pytest.mark.parametrize(
    ("code", "number", "how"),
    [(KILLED, 9, "signal 9"), (KILLED, 15, "signal 15"), (LEFT, 3, "exit code 3")],
    ids=["killed", "terminated", "left"],
)
def test_the_next_run_has_a_fresh_interpreter_and_says_so(code: str, number: int, how: str):
    first, second, third, _ = after(code.replace("{signal}", str(number)))
    assert (first.status, first.state) == (RunStatus.OK, StateOutcome.KEPT)
    assert (second.status, second.state) == (RunStatus.OK, StateOutcome.RESET)
    assert second.stdout == "yes False\n"
    assert NOTE.format(how) in second.notes[0]
    assert (third.stdout, third.state, third.notes) == ("True\n", StateOutcome.KEPT, ())


def test_what_it_wrote_before_is_there():
    _, second, _, background = after(SPOKE.replace("{signal}", "0"))
    assert second.status is RunStatus.OK
    assert "last words\n" in [record.output.text for record in background]


def test_an_interpreter_that_lives_is_kept():
    """The control: the same time goes by, and nobody is killed."""
    _, second, _, _ = after("z = 1")
    assert (second.stdout, second.state, second.notes) == ("yes True\n", StateOutcome.KEPT, ())


def test_runs_that_share_nothing_have_no_note():
    _, second, _, _ = after(LEFT.replace("{signal}", "3"), persistent=False)
    assert (second.stdout, second.notes) == ("yes False\n", ())
