"""Observers of sessions: who is called, when, in which thread, and what they cannot disturb."""

import asyncio
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox import RunRecord, WithContent, aio, create_session, tool_call_id
from llm_sandbox.exceptions import SandboxTimeoutError, ValidationError

ROOT = Path(__file__).resolve().parents[2]
CANARY = "canary8f3e"


def test_observers_hear_in_order_and_one_that_fails_disturbs_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is logged once, without the run's own error; the others, and the result, are as ever."""
    order: list[str] = []

    def first(_: RunRecord) -> None:
        order.append("first")

    def failing(_: RunRecord) -> None:
        order.append(threading.current_thread().name)
        raise ValueError("the observer's own")

    with create_session("bubblewrap", observers=[first, failing]) as session:
        session.add_observer(lambda record: order.append(record.status))
        assert "2" == session.run("1 + 1").value
        with pytest.raises(SandboxTimeoutError):
            session.run(f"print('{CANARY}')\nwhile True: pass", timeout=0.2)
        assert ["first", "MainThread", "ok", "first", "MainThread", "timeout"] == order
        session.remove_observer(first)
        session.run("1")
        assert "first" not in order[6:]
        with pytest.raises(ValidationError, match="expected one of this session"):
            session.remove_observer(first)
    warnings = [line for line in caplog.records if line.levelno >= logging.WARNING]
    assert 1 == len(warnings)
    assert "the observer's own" in warnings[0].getMessage()

    caplog.clear()

    def hear(_: str) -> None:
        raise LookupError(CANARY)

    opened = create_session("bubblewrap", observers=[failing])
    with opened as session, pytest.raises(LookupError):
        session.run("print(1)", on_stdout=hear)
    assert "the observer's own" in caplog.text
    assert CANARY not in caplog.text


@pytest.mark.parametrize("observers", [print, "print", [1], [WithContent], 7, [asyncio.sleep]])
def test_what_is_no_observer_is_refused(observers: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        create_session("bubblewrap", observers=observers)
    assert caught.value.hint


def test_a_tool_call_is_that_of_its_thread() -> None:
    """Two threads at once, each with its own; outside of a block there is none."""
    heard: dict[str | None, list[str | None]] = {}
    both = threading.Barrier(2)

    def work(name: str) -> None:
        mine: list[RunRecord] = []
        with create_session("bubblewrap", observers=[mine.append]) as session:
            with tool_call_id(name):
                both.wait(30)
                session.run("1")
                with tool_call_id(None):
                    session.run("1")
                session.execute_command("true")
            session.run("1")
        heard[name] = [record.tool_call_id for record in mine]

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert {"a": ["a", None, "a", None], "b": ["b", None, "b", None]} == heard


# --- async


def test_awaited_runs_are_told_with_their_tasks_tool_call() -> None:
    """A cancelled run, and a cancelled command, are ``interrupted``."""
    heard: list[RunRecord] = []

    async def cancel(call: Awaitable[object], begun: asyncio.Event) -> None:
        task = asyncio.ensure_future(call)
        await asyncio.wait_for(begun.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def main() -> None:
        async with aio.create_session("bubblewrap", observers=[heard.append]) as session:
            for command in (False, True):
                begun = asyncio.Event()

                async def hear(_: str, event: asyncio.Event = begun) -> None:
                    event.set()

                with tool_call_id(f"call {command}"):
                    if command:
                        call = session.execute_command("echo 1; exec sleep 60", None, hear)
                    else:
                        call = session.run("print(1, flush=True)\nwhile True: 1", on_stdout=hear)
                    await cancel(call, begun)
            await session.add_observer(heard.append)
            await session.run("1")

    asyncio.run(asyncio.wait_for(main(), 100))
    assert [("run", "interrupted", "call False"), ("command", "interrupted", "call True")] == [
        (one.kind, one.status, one.tool_call_id) for one in heard[:2]
    ]
    assert ["ok", "ok"] == [one.status for one in heard[2:]]


def test_sessions_without_observers_load_nothing() -> None:
    """Nor is anything measured: the module that makes records is not even imported."""
    code = (
        "import sys\nfrom llm_sandbox import create_session\n"
        "with create_session('bubblewrap'{}) as session: session.run('1')\n"
        "print([name for name in sys.modules if name.startswith('llm_sandbox.telemetry')] != [])"
    )
    for argument, loaded in (("", "False"), (", observers=[lambda record: None]", "True")):
        done = subprocess.run(
            [sys.executable, "-c", code.format(argument)],
            capture_output=True,
            text=True,
            timeout=60,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        assert (loaded, "") == (done.stdout.strip(), done.stderr)
