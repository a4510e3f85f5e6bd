"""End of a detached sandbox: its causes, its time, and its record."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import (
    PIPE,
    Limits,
    Sandbox,
    SandboxError,
    UnsupportedError,
    ValidationError,
    create_session,
)
from llm_sandbox.backends.bubblewrap.backend import BubblewrapBackend
from llm_sandbox.exceptions import (
    BackendError,
    ContainerGoneError,
    LaunchError,
    ProcessNotFoundError,
    SessionClosedError,
)
from llm_sandbox.sandbox.detached import machine as kept_machine
from tests.detached.conftest import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox.backends.base import Machine, MachineSpec


def make(*command: str, **options: Any) -> Sandbox:
    return Sandbox.create(*command, backend="bubblewrap", **options)


@pytest.fixture(autouse=True)
def leaves_nothing(registry: Any) -> Iterator[None]:
    """Every test ends what it began."""
    yield
    for sandbox in Sandbox.list():
        sandbox.destroy()
    Sandbox.gc()
    assert until(registry.is_empty), (registry.daemons(), registry.files())


MAKER = """
import sys, time
from llm_sandbox import Sandbox
sandbox = Sandbox.create(*{command!r}, backend="bubblewrap", **{options!r})
{more}
print(sandbox.id)
time.sleep(600)
"""


@pytest.fixture
def orphan(client: Callable[[str], Any]) -> Callable[..., Sandbox]:
    """Attach to a sandbox whose maker was killed."""

    def begin(*command: str, more: str = "", **options: Any) -> Sandbox:
        maker = client(MAKER.format(command=command, options=options, more=more))
        sandbox = Sandbox.attach(maker.line())
        maker.kill()
        return sandbox

    return begin


# --- times


def test_the_deadline_is_kept_without_a_client(orphan: Callable[..., Sandbox]) -> None:
    """A sandbox whose maker was killed ends at its deadline; one that was given more time not."""
    late = orphan(on_exit="keep", timeout=2.0)
    extended = orphan(on_exit="keep", timeout=2.5, more="sandbox.set_timeout(60)")
    assert late.wait(30) == 124
    assert late.end_reason == "deadline"
    with pytest.raises(ContainerGoneError):
        late.exec("true")
    time.sleep(1.0)
    assert extended.check("echo", "still").stdout == "still\n"
    extended.set_timeout(0.5)
    assert extended.wait(30) == 124
    late.detach()
    extended.detach()


@pytest.mark.slow
def test_idleness_ends_it_and_activity_does_not(orphan: Callable[..., Sandbox]) -> None:
    """The entry's own work is no activity; a program that runs, a file that is read and what is
    written to the entry are.
    """
    lazy = orphan("sh", "-c", "while true; do echo work; sleep 0.1; done", idle_timeout=1.5,
                  on_exit="keep")  # fmt: skip
    busy = orphan("cat", idle_timeout=2.5, on_exit="keep", more='sandbox.exec("sleep", "4")')
    assert lazy.wait(30) == 124
    assert lazy.end_reason == "idle"
    assert busy.poll() is None
    assert until(lambda: busy.processes() == [], 20)
    entry = busy.entry
    assert entry is not None
    assert entry.stdin is not None
    for number in range(6):
        time.sleep(0.6)
        if number % 2:
            busy.files.write_text("a", "b")
        else:
            entry.stdin.write(f"{number}\n")
    assert busy.poll() is None
    assert busy.wait(30) == 124
    assert entry.stdout.read() == "0\n2\n4\n"
    lazy.detach()
    busy.detach()


# --- ends


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("exit 137", 137), ("exit 0", 0)])
def test_it_ends_with_its_entry(script: str, code: int) -> None:
    with make("sh", "-c", f"echo said; {script}") as sandbox:
        assert sandbox.wait(30) == code
        assert (sandbox.end_reason, sandbox.returncode) == ("exited", code)
        assert sandbox.entry is not None
        assert sandbox.entry.collect().stdout == "said\n"


def test_an_entry_that_cannot_start_leaves_nothing(registry: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        make("/no/such/program", name="never")
    assert caught.value.kind == "not_found"
    assert until(registry.is_empty)


def test_it_ends_with_its_owner_unless_that_lets_go(
    client: Callable[[str], Any], registry: Any
) -> None:
    """SIGKILL of the owner ends it, that of another client does not; a detached one lives on."""
    owner = client(MAKER.format(command=(), options={"name": "owned"}, more=""))
    sandbox = Sandbox.attach(owner.line())
    other = client(
        "from llm_sandbox import Sandbox\n"
        "sandbox = Sandbox.from_name('owned')\nprint(sandbox.check('echo', 'me').stdout)\n"
        "import time; time.sleep(600)"
    )
    assert other.line() == "me"
    other.kill()
    time.sleep(0.7)
    assert sandbox.check("echo", "here").stdout == "here\n"
    owner.kill()
    assert until(lambda: sandbox.poll() == 137)
    assert until(registry.is_empty)
    detacher = client(MAKER.format(command=(), options={"name": "free"}, more="sandbox.detach()"))
    free = Sandbox.attach(detacher.line())
    detacher.kill()
    time.sleep(0.7)
    assert free.check("echo", "here").stdout == "here\n"
    assert free.poll() is None
    sandbox.detach()
    free.destroy()


def test_a_block_ends_as_was_asked_for() -> None:
    with make(name="short") as ended:
        pass
    assert ended.poll() == 137
    with make(name="long", on_exit="keep") as kept:
        again = Sandbox.from_name("long")
    with again:
        assert again.check("echo", "yes").stdout == "yes\n"
    with pytest.raises(SessionClosedError):
        again.exec("true")
    with pytest.raises(SessionClosedError):
        kept.files.read_text("a")
    kept.detach()
    Sandbox.from_name("long").destroy()


def test_a_failed_destroy_leaves_the_handle_open(
    registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = make(name="stuck")
    daemon = registry.daemon_of(sandbox)
    monkeypatch.setattr(kept_machine, "_END_S", 0.5)
    monkeypatch.setattr(kept_machine, "_MARGIN_S", 0.5)
    os.kill(daemon, signal.SIGSTOP)
    try:
        with pytest.raises(BackendError):
            sandbox.destroy()
        assert sandbox.files is not None  # a closed handle refuses
        assert sandbox.poll() is None
    finally:
        os.kill(daemon, signal.SIGCONT)
    monkeypatch.undo()
    os.environ["XDG_STATE_HOME"] = str(registry.home)
    sandbox.destroy()
    sandbox.destroy()
    with pytest.raises(SessionClosedError):
        assert sandbox.files


# --- programs


def test_output_and_input_are_as_without_a_daemon() -> None:
    """Caps, tails and counts are exact; input arrives; signals, timeouts, errors are the same."""
    limits = Limits(output_bytes=100_000)
    seen = []
    for name in (None, "streams"):
        with make(name=name, limits=limits) as sandbox:
            flood = sandbox.sh("head -c 3000000 /dev/zero | tr '\\0' x; echo END").collect()
            tail = sandbox.sh("seq 1 60000; exit 5").collect(30, keep="tail")
            pipe = sandbox.exec("cat", stdin=PIPE)
            assert pipe.stdin is not None
            pipe.stdin.write(b"\xff" * 200_000)
            pipe.stdin.write_eof()
            echoed = pipe.collect(5)
            late = sandbox.sh("echo before; sleep 60", timeout=0.4).collect()
            held = sandbox.sh("sleep 61 & echo parent").collect()
            killed = sandbox.exec("sleep", "60")
            killed.signal(15)
            with pytest.raises(LaunchError) as missing:
                sandbox.exec("/missing")
            with pytest.raises(ProcessNotFoundError):
                sandbox.process("0" * 16)
            results = (flood, tail, echoed, late, held, killed.collect())
            seen.append([{**vars(one), "duration_s": 0} if hasattr(one, "__dict__") else
                         (one.exit_code, one.stdout, one.stderr, one.dropped_bytes, one.signal,
                          one.timed_out, one.stdout_truncated) for one in results])  # fmt: skip
            seen[-1].append(str(missing.value))
    assert seen[0] == seen[1]


def test_two_clients_at_once(client: Callable[[str], Any]) -> None:
    with make(name="shared") as sandbox:
        other = client(
            """
            from llm_sandbox import Sandbox
            sandbox = Sandbox.from_name("shared")
            print("ready")
            for number in range(30):
                assert sandbox.check("echo", f"other {number}").stdout == f"other {number}\\n"
                sandbox.files.write_text(f"other{number}", str(number))
            print("done")
            """
        )
        assert other.line() == "ready"
        failures: list[object] = []

        def work(who: int) -> None:
            for number in range(15):
                said = sandbox.check("echo", f"{who} {number}").stdout
                if said != f"{who} {number}\n":
                    failures.append(said)

        threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert other.line() == "done"
        assert sandbox.files.read_text("other29") == "29"


def test_a_handle_that_is_dropped_keeps_nothing_open() -> None:
    def threads() -> int:
        return sum(one.name == "llm-sandbox-rpc" for one in threading.enumerate())

    with make(name="dropped") as sandbox:
        before = threads()
        handles = [Sandbox.attach(sandbox.id) for _ in range(5)]
        assert threads() == before + 5
        handles.clear()
        import gc

        gc.collect()
        assert until(lambda: threads() == before)


def test_an_interpreter_runs_in_it(orphan: Callable[..., Sandbox]) -> None:
    """A session's kernel is forked in the daemon's machine, talks to this process, and ends with
    the session's machine.
    """
    sandbox = orphan(name="kernel", on_exit="keep")
    machine = sandbox._machine

    class Handing(BubblewrapBackend):
        def create(self, spec: MachineSpec) -> Machine:
            return machine

    with create_session(Handing()) as session:
        session.run("import os\nkept = 20")
        assert session.run("print(kept + 1)").stdout == "21\n"
        assert session.run("1 / 0").error is not None
        late = session.run("print('before', flush=True)\nos._exit(3)")
        assert late.stdout == "before\n"
        assert session.run("print(6 * 7)").stdout == "42\n"
    assert until(lambda: sandbox.poll() == 137)
    sandbox.detach()


# --- what is not kept


def test_a_plain_sandbox_has_no_daemon(registry: Any) -> None:
    with make() as sandbox:
        process = sandbox.exec("sleep", "60")
        assert sandbox.processes() == [process]
        assert sandbox.process(process.id) is process
        assert registry.daemons() == {}
        assert Sandbox.list() == []
        assert (sandbox.name, dict(sandbox.tags), sandbox.entry) == (None, {}, None)
        for refused in (sandbox.detach, lambda: sandbox.set_tags({})):
            with pytest.raises(UnsupportedError):
                refused()
        with pytest.raises(SandboxError):
            sandbox.wait(0.1)
        sandbox.terminate()
        assert sandbox.wait() == 137


@pytest.mark.parametrize(
    "options",
    [
        {"name": "a/b"},
        {"name": ""},
        {"name": "a" * 65},
        {"name": "n", "namespace": "../x"},
        {"tags": {"": "x"}},
        {"tags": {"a": 1}},
        {"tags": ["a"]},
        {"on_exit": "detach"},
        {"idle_timeout": 0},
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], registry: Any) -> None:
    with pytest.raises(ValidationError):
        make(**options)
    assert registry.daemons() == {}


def test_a_backend_that_cannot_be_named_is_refused() -> None:
    class Own(BubblewrapBackend):
        pass

    with pytest.raises(UnsupportedError) as caught:
        Sandbox.create(backend=Own(), name="own")
    assert "bubblewrap" in str(caught.value)
