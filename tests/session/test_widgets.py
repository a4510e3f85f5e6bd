"""Widgets in sessions, which no front end draws: their text is that of the end of the cell."""

import time

import pytest

from llm_sandbox import RunStatus, create_session
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.results.outputs import DisplayOutput, UpdateOutput


@pytest.fixture(scope="module")
def session():
    with create_session(lang="python") as opened:
        opened.run("import ipywidgets as w\nfrom tqdm.auto import tqdm")
        yield opened


def read(result):
    """What a model reads of a run."""
    return "\n".join(part["text"] for part in result.for_llm() if "text" in part)


def test_a_progress_bar_is_at_its_end(session):
    result = session.run("for n in tqdm(range(5)): pass")
    first, last = result.outputs
    assert isinstance(first, DisplayOutput)
    assert isinstance(last, UpdateOutput)
    assert "0/5" in first.data["text/plain"]
    assert "5/5" in last.data["text/plain"]
    assert last.display_id == first.display_id
    assert "5/5" in read(result)
    assert "0/5" not in read(result)


def test_a_progress_bar_that_failed_says_how_far_it_came(session):
    result = session.run("for n in tqdm(range(4)):\n    if n == 2: raise ValueError('no')")
    assert result.status is RunStatus.ERROR
    assert "2/4" in read(result)


def test_a_bar_that_was_closed_is_not_there(session):
    result = session.run("for n in tqdm(range(3), desc='inner', leave=False): pass\nprint('done')")
    assert "inner" not in read(result)
    assert "done" in read(result)


def test_values_are_the_last_ones(session):
    result = session.run("bar = w.IntProgress(value=1, max=3)\ndisplay(bar)\nbar.value = 3")
    assert "IntProgress(value=3, max=3)" in read(result)
    assert "value=1" not in read(result)


def test_what_does_not_change_is_told_once(session):
    result = session.run("display(w.IntProgress(value=2, max=3))")
    assert [type(output) for output in result.outputs] == [DisplayOutput]


@pytest.mark.parametrize("late", [False, True], ids=["cell", "thread"])
def test_large_messages_of_widgets_are_passed_over(session, late):
    """No front end reads them here: 40 MB of them cost neither the state nor the run."""
    code = (
        "from comm import create_comm\n"
        "def work(): create_comm(target_name='t', data='x' * 40_000_000)"
    )
    call = "import threading, time\nthreading.Timer(0.3, work).start()" if late else "work()"
    session.run(f"kept = 1\n{code}\n{call}")
    if late:
        time.sleep(1.0)
    assert session.run("print(kept)").stdout == "1\n"


def test_a_widget_that_cannot_be_printed_ends_nothing(session):
    result = session.run(
        "class Bad(w.IntSlider):\n"
        "    count = 0\n"
        "    def __repr__(self):\n"
        "        Bad.count += 1\n"
        "        return 'once' if Bad.count == 1 else 1 / 0\n"
        "display(Bad())"
    )
    assert result.status is RunStatus.OK
    assert session.run("print(Bad.count)").stdout == "2\n"


def test_a_widget_whose_text_never_ends_is_stopped_with_its_cell(session):
    code = (
        "class Slow(w.IntSlider):\n"
        "    shown = False\n"
        "    def __repr__(self):\n"
        "        while Slow.shown: pass\n"
        "        Slow.shown = True\n"
        "        return 'slow'\n"
        "display(Slow())"
    )
    with pytest.raises(SandboxTimeoutError):
        session.run(code, timeout=2)
    assert session.run("print(Slow.shown)").stdout == "True\n"
