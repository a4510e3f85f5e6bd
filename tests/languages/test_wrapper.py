"""The kernel around other interpreters, around one that speaks well or badly as it is told."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from tests.languages.wrapped import is_gone, reply, text, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.languages.wrapped import Wrapped

    Wrap = Callable[..., Wrapped]

pytestmark = pytest.mark.timeout(120)


def kinds(messages: list[tuple[str, dict]]) -> list[str]:
    return [kind for kind, _ in messages]


# --- runs


def test_a_run(wrapped: Wrapped) -> None:
    """A run is busy, output, reply, idle."""
    messages = wrapped.run("print('out'); print('err', file=sys.stderr)")

    assert ["execute_reply", "status"] == kinds(messages)[-2:]
    assert ("out\n", "err\n") == (text(messages), text(messages, "stderr"))
    assert ("ok", 1) == (reply(messages)["status"], reply(messages)["execution_count"])


def test_runs_are_counted(wrapped: Wrapped) -> None:
    """The interpreter is told the same number as the host; a silent run has none of its own."""
    assert 1 == reply(wrapped.run("pass"))["execution_count"]
    wrapped.begin("pass", silent=True)
    assert 1 == reply(wrapped.finish())["execution_count"]
    assert "2" == text(wrapped.run("print(seen[-1]['number'].decode(), end='')"))


def test_what_is_shown_stands_among_what_is_printed(wrapped: Wrapped) -> None:
    """Each display is acknowledged, and comes between what was printed before and after it."""
    code = "for n in range(50):\n print(n)\n show(**{'data:text/plain': f'd{n}'})"
    order: list[str] = []
    for kind, content in wrapped.run(code):
        if kind == "stream":
            order += content["text"].split()
        elif kind == "display_data":
            order.append(content["data"]["text/plain"])

    assert [word for n in range(50) for word in (str(n), f"d{n}")] == order


def test_forms_of_a_display(wrapped: Wrapped) -> None:
    """Text stays text, JSON is data, the rest is base64; metadata and the name are passed on."""
    code = (
        "show(**{'data:image/png': bytes(range(9)), 'data:text/html': '<p>é</p>',"
        "'data:application/json': '{\"a\": [1]}', 'data:application/vnd.x+json': 'no json',"
        "'metadata': '{\"m\": 1}', 'id': 'name'})"
    )
    ((_, shown),) = [pair for pair in wrapped.run(code) if pair[0] == "display_data"]

    assert {
        "image/png": "AAECAwQFBgcI",
        "text/html": "<p>é</p>",
        "application/json": {"a": [1]},
        "application/vnd.x+json": "no json",
    } == shown["data"]
    assert ({"m": 1}, "name") == (shown["metadata"], shown["transient"]["display_id"])


def test_a_display_over_the_limit_is_left_out(wrapped: Wrapped) -> None:
    """The limit of displays holds, and what is left out is named."""
    wrapped.send("llm_sandbox_configure", {"display_bytes": 10_000})
    shown = [
        content["data"]["text/plain"]
        for kind, content in wrapped.run(
            "for size in (5000, 50_000): show(**{'data:text/plain': 'x' * size})"
        )
        if kind == "display_data"
    ]

    assert 5000 == len(shown[0])
    assert "over the limit of 10000: left out" in shown[1]


def test_an_error_is_told_with_its_details(wrapped: Wrapped) -> None:
    code = (
        "say('error', name='Odd', value='v', traceback='a\\nb', line=3, column=5, type='compile',"
        'frames=\'[{"file": "f", "line": 3}, 7]\'); hear()'
    )
    messages = wrapped.run(code)
    ((_, error),) = [pair for pair in messages if pair[0] == "error"]

    assert ("Odd", "v", ["a", "b"]) == (error["ename"], error["evalue"], error["traceback"])
    assert {
        "frames": [{"file": "f", "line": 3}],
        "line": 3,
        "column": 5,
        "kind": "compile",
    } == error["llm_sandbox"]
    assert "error" == reply(messages)["status"]


@pytest.mark.parametrize(
    "fields",
    ["line='x'", "line='-1'", "frames='nonsense'", "frames='{}'", "type='strange'", "name=''"],
)
def test_odd_details_of_an_error_are_passed_over(wrapped: Wrapped, fields: str) -> None:
    messages = wrapped.run(f"say('error', **{{'value': 'v', **dict({fields})}}); hear()")
    ((_, error),) = [pair for pair in messages if pair[0] == "error"]

    assert ("Error", {"frames": []}) == (error["ename"], error["llm_sandbox"])


@pytest.mark.parametrize(("told", "code"), [("7", 7), ("256", 0), ("-1", None), ("x", None)])
def test_an_exit_that_the_program_asked_for(wrapped: Wrapped, told: str, code: int | None) -> None:
    """The code of an exit is passed on if it is a number, and the interpreter stays."""
    wrapped.begin(f"say('done', status='ok', exit={told!r})")

    assert code == reply(wrapped.finish())["llm_sandbox"]["exit"]


def test_output_over_the_limit_is_counted(wrapped: Wrapped) -> None:
    """Output over the limit is read and dropped, and the program never waits for it."""
    wrapped.send("llm_sandbox_configure", {"output_bytes": 1000})
    messages = wrapped.run("print('x' * 5_000_000, end=''); print('e', file=sys.stderr)")

    assert ("x" * 1000, "e\n") == (text(messages), text(messages, "stderr"))
    assert {"stdout": 4_999_000, "stderr": 0} == reply(messages)["llm_sandbox"]["dropped"]
    assert 5 == len(text(wrapped.run("print('again'[:5], end='')")))


def test_big_output_arrives_whole(wrapped: Wrapped) -> None:
    wrapped.send("llm_sandbox_configure", {"output_bytes": 20_000_000})

    assert "x" * 15_000_000 == text(wrapped.run("print('x' * 15_000_000, end='')"))


def test_large_code_arrives_whole(wrapped: Wrapped) -> None:
    """Code that no pipe holds reaches the interpreter."""
    code = f"text = {'y' * 5_000_000!r}; print(len(text), end='')"

    assert "5000000" == text(wrapped.run(code))


def test_a_closed_output_is_no_end(wrapped: Wrapped) -> None:
    """A program may close what it writes to; the run ends as any other."""
    messages = wrapped.run("print('last', flush=True); os.close(2)")

    assert ("ok", "last\n") == (reply(messages)["status"], text(messages))
    assert "again\n" == text(wrapped.run("print('again')"))


def test_what_is_printed_between_runs_belongs_to_the_next(wrapped: Wrapped) -> None:
    """Output of a thread that goes on waits for the next run, as in a terminal."""
    code = "import threading; threading.Timer(0.2, lambda: os.write(1, b'late ')).start()"
    assert "" == text(wrapped.run(code))

    assert "late now" == text(wrapped.run("time.sleep(0.5); print('now', end='')"))


def test_what_is_shown_between_runs_is_no_part_of_one(wrapped: Wrapped) -> None:
    """After `done` the interpreter has nothing more to say of that run."""
    wrapped.begin("say('done', status='ok'); say('display', **{'data:text/plain': 'late'})")
    assert "display_data" not in kinds(wrapped.finish())


# --- environment and descriptors


def test_the_interpreter_has_five_descriptors(wrapped: Wrapped) -> None:
    """Its own three, requests and answers, and nothing of the kernel's."""
    found = text(wrapped.run("print(sorted(map(int, os.listdir('/proc/self/fd'))))"))

    # The last is that of the listing itself.
    assert [0, 1, 2, 3, 4] == json.loads(found)[:-1]


def test_variables_are_set_and_unset(wrap: Wrap) -> None:
    """Only what changed is told, and what is no longer named is unset."""
    wrapped = wrap(env={"KEPT": "1", "GOES": "2"})
    before = dict(json.loads(text(wrapped.run("import json; print(json.dumps(dict(os.environ)))"))))
    assert ("1", "2") == (before["KEPT"], before["GOES"])
    del before["GOES"]
    wrapped.send("llm_sandbox_configure", {"environment": {**before, "NEW": "a\nb é"}})
    messages = wrapped.run(
        "print(json.dumps([[m['name'].decode() for m in seen if m['kind'] == b'set'],"
        " os.environ['NEW'], 'GOES' in os.environ]))"
    )

    names, new, goes = json.loads(text(messages))
    assert (["GOES", "NEW"], "a\nb é", False) == (sorted(names), new, goes)


# --- input


def test_input_is_asked_for_when_it_is_wanted(wrapped: Wrapped) -> None:
    """Lines are given one at a time, and then the end."""
    messages = wrapped.run("print(sys.stdin.read())", ["one", "zwei é"])

    assert "one\nzwei é\n\n" == text(messages)
    assert 3 == kinds(messages).count("input_request")


def test_without_input_it_is_at_its_end(wrapped: Wrapped) -> None:
    messages = wrapped.run("print(repr(os.read(0, 100)))")

    assert ("b''\n", 0) == (text(messages), kinds(messages).count("input_request"))


def test_what_is_not_read_does_not_reach_the_next_run(wrapped: Wrapped) -> None:
    wrapped.run("time.sleep(0.3)", ["left", "over"])

    assert "b''\n" == text(wrapped.run("print(repr(os.read(0, 100)))"))
    assert "b'new\\n'\n" == text(wrapped.run("print(repr(os.read(0, 100)))", ["new"]))


def test_a_line_longer_than_a_pipe(wrapped: Wrapped) -> None:
    """A line that no pipe holds is read whole."""
    code = "n = 0\nwhile chunk := os.read(0, 65536): n += len(chunk)\nprint(n)"

    assert "1000001\n" == text(wrapped.run(code, ["z" * 1_000_000]))


# --- interrupts


def test_an_interrupt_stops_the_code(wrapped: Wrapped) -> None:
    """The interpreter stays, and can be used again."""
    wrapped.begin("kept = 5; print('on', flush=True); time.sleep(600)")
    heard = wrapped.heard()
    while next(heard)[0] != "stream":
        pass
    wrapped.interrupt()

    assert "KeyboardInterrupt" == reply(wrapped.finish())["ename"]
    assert "5\n" == text(wrapped.run("print(kept)"))


def test_interrupts_are_not_passed_on_too_fast(wrapped: Wrapped) -> None:
    """Whoever repeats an interrupt leaves the interpreter the time to answer it."""
    wrapped.begin(
        "times = []; signal.signal(2, lambda *_: times.append(time.monotonic()))\n"
        "print('on', flush=True)\nend = time.monotonic() + 1.2\n"
        "while time.monotonic() < end: time.sleep(0.01)\n"
        "print(len(times) < 8, min((b - a for a, b in zip(times, times[1:])), default=1) > 0.1)"
    )
    heard = wrapped.heard()
    while next(heard)[0] != "stream":
        pass
    found: list[tuple[str, dict]] = []
    for _ in range(60):
        wrapped.interrupt()
        signal.sigtimedwait([], 0.01)
    found = wrapped.finish()

    assert "True True\n" == text(found)


def test_an_interrupt_between_runs_is_none(wrapped: Wrapped) -> None:
    wrapped.run("pass")
    wrapped.interrupt()

    assert "fine\n" == text(wrapped.run("time.sleep(0.3); print('fine')"))


def test_an_interrupt_reaches_what_the_code_has_started(wrapped: Wrapped) -> None:
    """A child in the foreground is interrupted as in a terminal."""
    wrapped.begin(
        "import os, subprocess\nchild = subprocess.Popen(['sleep', '600'])\n"
        # An interrupted `wait` may have collected the status, and lose it.
        "while True:\n"
        " try: print('on', flush=True); os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)\n"
        " except KeyboardInterrupt: continue\n"
        " break\n"
        "print(child.wait())"
    )
    heard = wrapped.heard()
    while next(heard)[0] != "stream":
        pass
    wrapped.interrupt()

    assert text(wrapped.finish()).endswith("-2\n")


# --- ends


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("os._exit(3)", 3),
        ("os.kill(os.getpid(), 9)", -9),
        ("os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    ],
)
def test_it_ends_as_its_interpreter_does(wrapped: Wrapped, code: str, ended: int) -> None:
    """The kernel ends as the interpreter did, after everything that was said before."""
    wrapped.begin(
        f"print('last words', flush=True); say('display', **{{'data:text/plain': 'd'}}); {code}"
    )
    messages = list(wrapped.heard())

    assert ended == wrapped.end()[0]
    assert "last words\n" == text(messages)
    assert "display_data" in kinds(messages)
    assert "execute_reply" not in kinds(messages)


@pytest.mark.parametrize(
    "said", [b"nonsense\n", b"kind 3\nrunX\n", b"code 1\nx\n\n", b"x" * 300, b"kind 99999999999\n"]
)
def test_what_breaks_the_protocol_is_ended(wrapped: Wrapped, said: bytes) -> None:
    """An interpreter that says what is no message is killed, and so is the kernel."""
    wrapped.begin(f"print(os.getpid(), flush=True); send({said!r}); time.sleep(600)")
    messages = list(wrapped.heard())

    assert "the interpreter broke the protocol" in wrapped.end()[1]
    assert is_gone(int(text(messages)))


def test_unknown_words_are_passed_over(wrapped: Wrapped) -> None:
    """A message of a kind that is not known is none, as later versions may have some."""
    assert "fine\n" == text(wrapped.run("say('novelty', x=1); print('fine')"))


def test_a_host_that_hangs_up_ends_everything(wrapped: Wrapped, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    wrapped.begin(f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)")
    pid = int(wait_for(note))
    wrapped.stream.close()

    assert is_gone(pid)
    assert 0 == wrapped.end()[0]


def test_bytes_that_are_no_frames_end_everything(wrapped: Wrapped) -> None:
    wrapped.run("pass")
    wrapped.stream.sendall(b"\xff" * 64)

    assert [] == list(wrapped.heard())
    assert 0 == wrapped.end()[0]


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (("no-such-interpreter",), 127, "no-such-interpreter: No such file"),
        (("/etc/passwd",), 126, "/etc/passwd: Permission denied"),
    ],
)
def test_an_interpreter_that_cannot_be_started(
    wrap: Wrap, argv: tuple[str, ...], code: int, words: str
) -> None:
    """The exit code is a shell's, and the words say which program it was."""
    ended, said = wrap(*argv).end()

    assert code == ended
    assert words in said


def test_an_interpreter_that_says_nothing_and_ends(wrap: Wrap) -> None:
    assert 4 == wrap(sys.executable, "-I", "-c", "raise SystemExit(4)").end()[0]


def test_it_does_nothing_besides_running(wrapped: Wrapped) -> None:
    """A service that only Python's kernel has is refused in words."""
    wrapped.send("llm_sandbox_call", {"service": "variables"})
    messages = wrapped.finish()

    assert "LookupError" == messages[0][1]["error"]["name"]
    assert "fine\n" == text(wrapped.run("print('fine')"))
