"""Several threads on one session: each waits for its turn, or is refused; none waits for ever."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from llm_sandbox import BaseSession, SandboxError, create_session
from llm_sandbox.const import RunStatus
from llm_sandbox.exceptions import SessionBusyError, SessionClosedError, ValidationError
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.lock import SessionLock


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as session:
        yield session


class Running:
    """Code that runs in another thread, and what came of it."""

    def __init__(self, session: BaseSession, code: str, **options: Any) -> None:
        self.ends: list[Any] = []
        self._begun = threading.Event()

        def work() -> None:
            try:
                self.ends.append(
                    session.run(code, on_stdout=lambda _: self._begun.set(), **options)
                )
            except SandboxError as error:
                self.ends.append(error)

        self._thread = threading.Thread(target=work)
        self._thread.start()

    def wait_until_begun(self) -> None:
        assert self._begun.wait(20)

    def end(self) -> Any:
        self._thread.join(30)
        assert not self._thread.is_alive()
        return self.ends[0]


@contextmanager
def under_way(session: BaseSession, code: str = "while True: pass") -> Iterator[Running]:
    run = Running(session, f"print('begun', flush=True)\n{code}")
    run.wait_until_begun()
    try:
        yield run
    finally:
        session.interrupt()
        run.end()


def queued(session: BaseSession, count: int) -> None:
    limit = time.monotonic() + 20
    while len(session._life.lock._waiting) < count and time.monotonic() < limit:
        time.sleep(0.005)
    assert len(session._life.lock._waiting) == count


def test_a_second_thread_waits_for_the_first(session: BaseSession) -> None:
    """What another thread runs is done first, and neither disturbs the other."""
    with under_way(session, "import time; time.sleep(1); x = 41") as first:
        assert "42" == session.run("x + 1").value
        assert first.end().status == "ok"


def test_those_who_wait_are_served_in_order(session: BaseSession) -> None:
    session.run("seen = []")
    with under_way(session):
        waiting = []
        for number in range(5):
            waiting.append(Running(session, f"seen.append({number})"))
            queued(session, number + 1)
        session.interrupt()
        for run in waiting:
            assert run.end().status == "ok"
    assert session.get("seen") == [0, 1, 2, 3, 4]


def test_variables_and_installations_wait_as_well(session: BaseSession) -> None:
    with under_way(session, "import time; time.sleep(0.5); y = 1"):
        assert session.get("y") == 1
    with under_way(session, "import time; time.sleep(0.5); z = 1"):
        with pytest.raises(ValidationError):
            session.install(["--evil"])
        assert "z" in [one.name for one in session.variables()]


def test_a_wait_ends_with_the_runs_timeout(session: BaseSession) -> None:
    """Nothing was run then; the code that does run goes on."""
    with under_way(session) as first:
        with pytest.raises(SessionBusyError, match=r"after 0\.3 s") as caught:
            session.run("ran = True", timeout=0.3)
        assert caught.value.retryable
        assert not first.ends
    assert "ran" not in [one.name for one in session.variables()]


def test_waiting_takes_none_of_the_codes_time(session: BaseSession) -> None:
    with under_way(session, "import time; time.sleep(2.5)"):
        result = session.run("import time; time.sleep(2.5); print('done')", timeout=4.5)
        assert "done\n" == result.stdout


def test_interrupt_ends_the_run_under_way_alone(session: BaseSession) -> None:
    with under_way(session) as first:
        second = Running(session, "print('second')")
        queued(session, 1)
        session.interrupt()
        assert first.end().exit_code == 130
        assert "second\n" == second.end().stdout


@pytest.mark.parametrize(
    "use",
    [lambda s: s.restart(), lambda s: s.lend_kernel()],
    ids=["restart", "lend_kernel"],
)
def test_what_ends_an_interpreter_does_not_wait(
    session: BaseSession, use: Callable[[BaseSession], object]
) -> None:
    with under_way(session), pytest.raises(SessionBusyError):
        use(session)


def test_a_callback_is_refused_at_once(session: BaseSession) -> None:
    def more(_: str) -> None:
        with pytest.raises(SessionBusyError, match="waits for this call"):
            session.run("1")

    assert "1\n" == session.run("print(1)", on_stdout=more).stdout
    assert "2" == session.run("2").value


def test_the_line_has_an_end() -> None:
    lock = SessionLock("wait")
    with ExitStack() as stack:
        stack.enter_context(lock.hold())
        refused: list[SessionBusyError] = []

        def wait() -> None:
            try:
                with lock.hold():
                    pass
            except SessionBusyError as error:
                refused.append(error)

        threads = [threading.Thread(target=wait) for _ in range(33)]
        for thread in threads:
            thread.start()
        threads[-1].join(0)
        limit = time.monotonic() + 20
        while not refused and time.monotonic() < limit:
            time.sleep(0.005)
        assert ["32 threads wait for this session already"] == [one.message for one in refused]
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert len(refused) == 1


def test_closing_refuses_those_who_wait() -> None:
    """None of them runs its code in a sandbox that is about to end."""
    session = create_session("bubblewrap")
    session.open()
    with under_way(session) as first:
        waiting = [Running(session, "print('ran', flush=True)") for _ in range(3)]
        queued(session, 3)
        session.close()
        assert first.end().exit_code == 130
        for run in waiting:
            assert isinstance(run.end(), SessionClosedError)


def test_busy_raise_refuses_at_once() -> None:
    with create_session("bubblewrap", busy="raise") as session:
        with under_way(session) as first:
            for use in (
                lambda: session.run("1"),
                lambda: session.get("x"),
                lambda: session.install(["six"]),
            ):
                with pytest.raises(SessionBusyError, match="busy='wait'"):
                    use()
            assert not first.ends
        assert "2" == session.run("2").value


def test_busy_is_one_of_two() -> None:
    with pytest.raises(ValidationError, match="expected 'wait' or 'raise', got 'queue'"):
        SessionConfig(busy="queue")  # type: ignore[arg-type]


def test_a_callback_closes_its_session() -> None:
    """The run is stopped and its result is whole; the sandbox ends with it."""
    session = create_session("bubblewrap")
    session.open()
    sandbox = session.sandbox

    result = session.run(
        "print(1, flush=True)\nwhile True: pass", on_stdout=lambda _: session.close()
    )

    assert (RunStatus.KILLED, "1\n") == (result.status, result.stdout)
    assert not session.is_open
    assert sandbox.poll() is not None
