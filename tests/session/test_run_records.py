"""Every run, command and installation gives one record, whatever its end, and nothing in it is
content.
"""

import dataclasses
import json
import pickle
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from llm_sandbox import (
    BaseSession,
    Limits,
    RunRecord,
    SandboxError,
    WithContent,
    create_session,
    get_security_policy,
)
from llm_sandbox.backends.bubblewrap.backend import BubblewrapBackend
from llm_sandbox.exceptions import (
    ContainerGoneError,
    NotOpenSessionError,
    SecurityViolationError,
    ValidationError,
)
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.settings import get_settings
from llm_sandbox.telemetry import RunContent
from tests.containers.wheels import make_wheel, only_from

ROOT = Path(__file__).resolve().parents[2]
CANARY = "canary8f3e"
PLOT = f"""
import matplotlib.pyplot as plt
plt.plot([1, 4, 9])
plt.show()
open("{CANARY}.txt", "w").write("{CANARY}")
print("é" * 3)
"""
SHARED_MEMORY = """
with open("/dev/shm/block", "wb") as file:
    for _ in range(400):
        file.write(bytes(1 << 20))
"""

Act = Callable[[BaseSession], object]


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as opened:
        yield opened


def record_of(session: BaseSession, act: Act) -> RunRecord:
    """The one record that something done to a session gives; what it raises is left out."""
    heard: list[RunRecord] = []
    session.add_observer(heard.append)
    try:
        act(session)
    except (SandboxError, LookupError, KeyboardInterrupt):
        pass
    finally:
        session.remove_observer(heard.append)
    (record,) = heard
    return record


def interrupted(session: BaseSession) -> object:
    endless = "print(1, flush=True)\nwhile True: pass"
    return session.run(endless, on_stdout=lambda _: session.interrupt())


def raising(error: BaseException) -> Act:
    def hear(_: str) -> None:
        raise error

    return lambda session: session.run("print(1)", on_stdout=hear)


def busy(session: BaseSession) -> object:
    with session._life.lock.hold():
        return session.run("1")


NAMED = f"class {CANARY}(Exception): pass\nraise {CANARY}('{CANARY}')"
# What is done; then kind, status, exit code, signal and type of error, `...` for what depends on
# where the code is stopped.
ENDS: dict[str, tuple[Act, tuple[object, ...]]] = {
    "ok": (lambda s: s.run("1"), ("run", "ok", 0, None, None)),
    "error": (lambda s: s.run("1 / 0"), ("run", "error", 1, None, "ZeroDivisionError")),
    "error of its own": (lambda s: s.run(NAMED), ("run", "error", 1, None, "other")),
    "exit": (lambda s: s.run("exit(3)"), ("run", "exited", 3, None, "SystemExit")),
    "timeout": (
        lambda s: s.run("while True: pass", timeout=0.2),
        ("run", "timeout", 124, ..., "SandboxTimeoutError"),
    ),
    "death": (
        lambda s: s.run("import os; os.kill(os.getpid(), 9)"),
        ("run", "killed", 137, 9, None),
    ),
    "interrupt": (interrupted, ("run", "interrupted", 130, 2, ...)),
    "key press": (
        raising(KeyboardInterrupt()),
        ("run", "interrupted", None, None, "KeyboardInterrupt"),
    ),
    "callback": (raising(LookupError(CANARY)), ("run", "failed", None, None, "LookupError")),
    "busy": (busy, ("run", "failed", None, None, "SessionBusyError")),
    "no code": (
        lambda s: s.run(b"1"),  # type: ignore[arg-type]
        ("run", "failed", None, None, "ValidationError"),
    ),
    "no library": (
        lambda s: s.run("1", libraries=["--evil"]),
        ("run", "failed", None, None, "ValidationError"),
    ),
    "command": (lambda s: s.execute_command("exit 3"), ("command", "error", 3, None, None)),
    "command timeout": (
        lambda s: s.execute_command(["sleep", "60"], timeout=0.2),
        ("command", "timeout", 124, 9, "SandboxTimeoutError"),
    ),
    "command death": (
        lambda s: s.execute_command("kill -9 $$"),
        ("command", "killed", 137, 9, None),
    ),
    "no program": (
        lambda s: s.execute_command([CANARY]),
        ("command", "failed", None, None, "LaunchError"),
    ),
    "install": (
        lambda s: s.install(["--evil"]),
        ("install", "failed", None, None, "ValidationError"),
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_every_end_is_told(name: str, session: BaseSession) -> None:
    act, expected = ENDS[name]
    before = datetime.now(UTC)
    record = record_of(session, act)
    ending = (record.kind, record.status, record.exit_code, record.signal, record.error_type)
    assert expected == tuple(
        want if want is ... else have for want, have in zip(expected, ending, strict=True)
    )
    assert before <= record.started_at <= datetime.now(UTC)
    assert 0 < record.duration_s < (datetime.now(UTC) - before).total_seconds() + 1
    assert (record.backend, record.language) == ("bubblewrap", "python")
    assert record.session_id == session.sandbox.id
    assert CANARY not in repr(record)
    assert record.content is None


def test_what_a_run_brought_is_counted(session: BaseSession) -> None:
    record = record_of(session, lambda s: s.run(PLOT))
    assert (record.plot_count, record.artifact_count, record.file_count) == (1, 2, 1)
    assert record.stdout_bytes == 7
    assert {"prepare", "execute", "recover", "collect"} == set(record.phases)
    assert 0 < record.phases["execute"] < record.duration_s
    assert record.cpu_s
    assert record.peak_memory_bytes
    assert not record.stdout_truncated


def test_what_was_left_out_is_told() -> None:
    with create_session("bubblewrap", limits=Limits(output_bytes=1 << 12)) as session:
        record = record_of(session, lambda s: s.run("print('x' * 100_000)"))
    assert record.stdout_truncated
    assert not record.stderr_truncated
    assert record.stdout_bytes + record.dropped_bytes == 100_001


def test_a_run_out_of_memory_is_told() -> None:
    config = SessionConfig(limits=Limits(memory_bytes=128 << 20, shm_bytes=512 << 20))
    with BaseSession.configured(config, backend="bubblewrap") as session:
        control = session.isolation.controls["memory"]
        if control.state != "enforced":
            pytest.skip(f"memory of a whole sandbox is {control.state} here: {control.by}")
        record = record_of(session, lambda s: s.run(SHARED_MEMORY))
    assert (record.status, record.exit_code) == ("oom", 137)


@pytest.mark.parametrize("refusal", ["raise", "result"])
def test_what_a_policy_refuses_is_told_by_its_rules(refusal: str) -> None:
    policy = get_security_policy("strict").model_copy(update={"refusal": refusal})
    with create_session("bubblewrap", security_policy=policy) as session:
        code = f"import os\n{CANARY} = 1\nos.system('{CANARY}')"
        run = record_of(session, lambda s: s.run(code))
        command = record_of(session, lambda s: s.execute_command(f"curl http://{CANARY}.test"))
        # The second of them is refused, and the first is not run: one record.
        several = record_of(session, lambda s: s.execute_commands(["touch it", "nc -l 1"]))
        assert not session.sandbox.files.exists("it")
        harmless = record_of(session, lambda s: s.run("1 + 1"))
    for record in (run, command, several):
        assert (record.status, record.error_type) == ("blocked", "SecurityViolationError")
        assert record.policy_rules
        assert CANARY not in repr(record)
    assert "python/process.run" in run.policy_rules
    assert run.exit_code == (126 if refusal == "result" else None)
    assert (harmless.status, harmless.policy_rules) == ("ok", ())


def test_installations_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of `open` too, refused ones and failed ones; those of a run are part of its record."""
    make_wheel(tmp_path / "wheels", "recorded", {"recorded.py": "VALUE = 8"})
    only_from(tmp_path / "wheels", monkeypatch)
    monkeypatch.setenv("LLM_SANDBOX_CACHE_DIR", str(tmp_path / "cache"))
    get_settings.cache_clear()
    heard: list[RunRecord] = []
    backend = BubblewrapBackend()
    try:
        for library in ("pexpect", "--evil"):
            session = create_session(
                backend,
                security_policy=get_security_policy("strict"),
                libraries=[library],
                observers=[heard.append],
            )
            with pytest.raises((SecurityViolationError, ValidationError)):
                session.open()
        with create_session(backend, libraries=["recorded"], observers=[heard.append]) as session:
            assert "8" == session.run("import recorded; recorded.VALUE", ["recorded"]).value
    finally:
        backend.close()
        get_settings.cache_clear()
    told = [(one.kind, one.status, one.library_count, one.session_id is None) for one in heard]
    assert [
        ("install", "blocked", 1, True),
        ("install", "failed", 1, False),
        ("install", "ok", 1, False),
        ("run", "ok", 1, False),
    ] == told


def test_what_was_never_or_is_no_longer_open_is_told() -> None:
    session = create_session("bubblewrap")
    record = record_of(session, lambda s: s.run("1"))
    assert (record.status, record.session_id) == ("failed", None)
    assert NotOpenSessionError.__name__ == record.error_type
    with session:
        session.sandbox.destroy()
        record = record_of(session, lambda s: s.run("1"))
    assert (record.status, record.error_type) == ("failed", ContainerGoneError.__name__)


# --- records


def test_a_record_is_frozen_and_travels(session: BaseSession) -> None:
    record = record_of(session, lambda s: s.run("1"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.status = "ok"  # type: ignore[misc]
    with pytest.raises(TypeError):
        record.phases["execute"] = 0.0  # type: ignore[index]
    assert record == pickle.loads(pickle.dumps(record))
    assert "content" not in json.loads(json.dumps(record.to_dict()))


def test_content_is_for_those_who_ask_and_cut() -> None:
    plain: list[RunRecord] = []
    whole: list[RunRecord] = []
    wrapped = WithContent(whole.append, max_chars=40)
    with create_session("bubblewrap", observers=[plain.append, wrapped, plain.append]) as session:
        session.run(
            f"{CANARY} = 'x' * 100\nopen('{CANARY}', 'w').close()\nprint({CANARY}); 'v\\ud800'"
        )
        session.run(f"raise ValueError('{CANARY}')")
    assert [None] * 4 == [record.content for record in plain]
    first, second = (record.content or RunContent() for record in whole)
    assert first.code.startswith(f"{CANARY} = 'x'")
    assert first.stdout == "x" * 40 + "... [61 more characters]"
    assert (first.names, first.error) == ((CANARY,), None)
    assert second.error == f"ValueError: {CANARY}"
    with pytest.raises(ValidationError):
        WithContent(print, max_chars=0)
