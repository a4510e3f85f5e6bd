"""Logs of a session in the step that uses it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from llm_sandbox.adapters.zenml import LoggingStep, LogSink, active_step
from tests.adapters.zenml.conftest import component

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

INFO, ERROR = logging.INFO, logging.ERROR


class Log:
    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []
        self.ended = 0

    def emit(self, record: logging.LogRecord) -> None:
        assert not self.ended, "nothing is said after the end"
        self.lines.append((record.levelno, record.getMessage()))

    def end(self) -> None:
        self.ended += 1


class RecordingStep(LoggingStep):
    """A step that keeps what it is told."""

    def __init__(self, settings: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        super().__init__(settings)
        self.logs: dict[str, Log] = {}

    def open_log(self, source: str) -> LogSink:
        assert source not in self.logs, "a source is opened once"
        self.logs[source] = Log()
        return self.logs[source]


def test_commands_output_and_ends_are_logged() -> None:
    step = RecordingStep()
    with active_step(step), component().create_session() as session:
        assert {} == step.logs  # not before there is something to say
        session.exec(["sh", "-c", "echo a; echo b c"]).collect()
        session.exec(["sh", "-c", "echo bad >&2; exit 2"]).collect()
        (source, log), *more = step.logs.items()
    assert [] == more
    assert f"sandbox:{session.id}" == source
    assert {f"sandbox.{session.id}.flavor": "local"} == step.metadata
    said = [(level, text.partition(" in ")[0]) for level, text in log.lines]
    assert [
        (INFO, "$ sh -c 'echo a; echo b c'"),
        (INFO, "a"),
        (INFO, "b c"),
        (INFO, "OK exit code 0"),
        (INFO, "$ sh -c 'echo bad >&2; exit 2'"),
        (ERROR, "bad"),
        (ERROR, "FAIL exit code 2"),
    ] == said
    assert log.lines[3][1].endswith("s")
    assert 1 == log.ended


def test_only_what_is_read_is_logged_and_only_collect_says_the_end() -> None:
    step = RecordingStep()
    with active_step(step), component().create_session() as session:
        process = session.exec("echo unread")
        process.wait()
        assert ["$ echo unread"] == [text for _, text in step.logs.popitem()[1].lines]


def test_without_a_step_there_is_never_a_log() -> None:
    """Half a session in a log would look like all of it."""
    step = RecordingStep()
    with component().create_session() as session:
        session.exec("true")
        with active_step(step):
            session.exec("echo x").collect()
    assert ({}, {}) == (step.logs, step.metadata)


def test_closed_session_logs_nothing_more() -> None:
    step = RecordingStep()
    with active_step(step):
        session = component().create_session()
        process = session.exec("echo late")
        process.wait()
        session.close()
        assert ["late\n"] == list(process.stdout())
        # One that had said nothing before says nothing after.
        other = component().create_session()
        other.close()
        other._emit_log("late")
    assert ["$ echo late"] == [text for log in step.logs.values() for _, text in log.lines]


def test_step_that_fails_fails_no_session(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(LoggingStep):
        def open_log(self, source: str) -> LogSink:
            raise OSError("no space")

        def publish(self, metadata: Mapping[str, str]) -> None:
            raise OSError("no server")

    with active_step(Broken()), component().create_session() as session:
        assert "x\n" == session.exec("echo x").collect().stdout
    assert "no server" in caplog.text


def test_values_of_secrets_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = component(sandbox_environment={"TOKEN": "{{vault.token}}", "LONG": "{{vault.long}}"})
    values = {"token": "s3cr3t", "long": "s3cr3t-and-more"}
    monkeypatch.setattr(made, "_get_secret", lambda name, key: values[key])
    step = RecordingStep()
    with active_step(step), made.create_session() as session:
        output = session.exec(["sh", "-c", "echo $TOKEN/$LONG; echo s3cr3t"]).collect()
        (log,) = step.logs.values()
    # The caller sees what was written; the log does not.
    assert "s3cr3t/s3cr3t-and-more\ns3cr3t\n" == output.stdout
    assert "s3cr3t" not in str(log.lines)
    assert (INFO, "***/***") in log.lines


def test_loggers_of_the_standard_library(caplog: pytest.LogCaptureFixture) -> None:
    step = active_step(LoggingStep())
    with caplog.at_level(INFO), step, component().create_session() as session:
        session.exec("echo heard").collect()
    assert (f"sandbox:{session.id}", INFO, "heard") in caplog.record_tuples
