"""Run records in logs and in OpenTelemetry, by the real packages; no content gets there unless it
is asked for.
"""

import asyncio
import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from llm_sandbox import (
    LoggingObserver,
    OpenTelemetryObserver,
    RunObserver,
    RunRecord,
    SandboxError,
    StructlogObserver,
    WithContent,
    aio,
    create_session,
    get_security_policy,
    tool_call_id,
)
from llm_sandbox.exceptions import MissingDependencyError, ValidationError
from llm_sandbox.host.distribution import install_command

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "integrations" / "telemetry.py"

CANARIES = {
    "code": "# canary-in-code",
    "variable": "canary_variable = 1",
    "stdout": "print('canary' + '-on-stdout')",
    "stderr": "import sys; print('canary' + '-on-stderr', file=sys.stderr)",
    "value": "'canary' + '-value'",
    "file": "open('canary' + '-file.txt', 'w').close()",
    "error name": "raise type('canary' + 'Error', (Exception,), {})",
    "error message": "raise ValueError('canary' + '-message')",
    "command": "canary-command",
    "library": "--canary-library",
    "refused": "import os; os.system('canary-refused')",
    "timeout": "print('canary' + '-late', flush=True)\nwhile True: pass  # canary-endless",
}
SHOWN = {
    *("canary-in-code", "canary_variable", "canary-on-stdout", "canary-on-stderr"),
    *("canary-value", "canary-file.txt", "canaryError", "canary-message", "canary-command"),
    *("canary-library", "canary-refused", "canary-endless"),
}


def act() -> Iterator[Callable[[Any], object]]:
    """What to do to a session so that each canary is there to be told."""
    for kind, text in CANARIES.items():
        if kind == "command":
            yield lambda session: session.execute_command(["echo", "canary-command"])
        elif kind == "library":
            yield lambda session: session.install(["--canary-library"])
        else:
            seconds = 1 if kind == "timeout" else 60
            yield lambda session, text=text, limit=seconds: session.run(text, timeout=limit)


class Telemetry:
    """OpenTelemetry's own SDK, writing to memory."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider([self.reader])
        self.observer = OpenTelemetryObserver(self.tracers, self.meters)

    def points(self) -> list[Any]:
        data = self.reader.get_metrics_data()
        (metric,) = data.resource_metrics[0].scope_metrics[0].metrics
        assert ("gen_ai.execute_tool.duration", "s") == (metric.name, metric.unit)
        return list(metric.data.data_points)

    def everything(self) -> str:
        spans = [span.to_json() for span in self.exporter.get_finished_spans()]
        return "\n".join([*spans, self.reader.get_metrics_data().to_json()])

    def close(self) -> None:
        self.tracers.shutdown()
        self.meters.shutdown()


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    made = Telemetry()
    yield made
    made.close()


class Lines(logging.Handler):
    """Keeps all of a line: its text and every attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record)


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler = Lines()
    logger = logging.getLogger("llm_sandbox.runs")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


@pytest.fixture
def adapters(
    telemetry: Telemetry, lines: Lines
) -> tuple[list[RunObserver], list[Callable[[], str]]]:
    """One observer of each kind, and what returns all that they have written."""
    heard: list[RunRecord] = []
    file = io.StringIO()
    structured = structlog.wrap_logger(
        structlog.PrintLogger(file), [structlog.processors.JSONRenderer()]
    )
    return [
        heard.append,
        LoggingObserver(),
        StructlogObserver(structured),
        telemetry.observer,
    ], [
        lambda: repr([(one, one.content, one.to_dict()) for one in heard]),
        lambda: repr([vars(one) for one in lines.kept]),
        lambda: "\n".join(one.getMessage() for one in lines.kept),
        file.getvalue,
        telemetry.everything,
    ]


def test_no_content_is_told_unless_asked_for(
    adapters: tuple[list[RunObserver], list[Callable[[], str]]], caplog: pytest.LogCaptureFixture
) -> None:
    """Not in text, not in data; then all of it, by the same observers in a `WithContent`."""
    observers, readers = adapters
    policy = get_security_policy("strict").model_copy(update={"allow": ("file",)})
    for wrap in (lambda plain: plain, WithContent):
        with create_session(
            "bubblewrap", security_policy=policy, observers=[wrap(one) for one in observers]
        ) as session:
            for step in act():
                try:
                    step(session)
                except SandboxError:
                    continue
        if wrap is not WithContent:
            for everything in readers:
                assert everything().count("bubblewrap") >= len(CANARIES)
                assert "canary" not in everything()
    for everything in readers:
        missing = {name for name in SHOWN if name not in everything()}
        assert missing == set()
    assert "canary" not in "".join(
        line.getMessage() for line in caplog.records if line.levelno >= logging.WARNING
    )


# --- OpenTelemetry


def test_a_span_is_the_run(telemetry: Telemetry) -> None:
    """With its times, below the span around it, and with the conventions' names."""
    tracer = telemetry.tracers.get_tracer("a test")
    with create_session("bubblewrap", observers=[telemetry.observer]) as session:
        before = datetime.now(UTC).timestamp()
        with tracer.start_as_current_span("agent") as parent, tool_call_id("call_7"):
            session.run("import time; time.sleep(0.2)\nopen('made.txt', 'w').close()")
        after = datetime.now(UTC).timestamp()
    span, around = telemetry.exporter.get_finished_spans()
    assert ("execute_tool run_code", "agent") == (span.name, around.name)
    assert span.parent == parent.get_span_context()
    assert SpanKind.INTERNAL is span.kind
    assert StatusCode.UNSET is span.status.status_code
    assert before - 1e-3 <= span.start_time / 1e9 <= after
    assert 0.2 <= (span.end_time - span.start_time) / 1e9 < 60
    assert span.end_time <= around.end_time + 1e6
    facts = dict(span.attributes or {})
    assert facts["gen_ai.operation.name"] == "execute_tool"
    assert facts["gen_ai.tool.name"] == "run_code"
    assert facts["gen_ai.tool.type"] == "function"
    assert facts["gen_ai.tool.call.id"] == "call_7"
    assert facts["llm_sandbox.backend"] == "bubblewrap"
    assert facts["llm_sandbox.exit_code"] == 0
    assert facts["llm_sandbox.file_count"] == 1
    assert facts["llm_sandbox.phase.execute"] >= 0.2
    assert "error.type" not in facts
    ours = {name for name in facts if not name.startswith(("gen_ai.", "llm_sandbox."))}
    assert ours == set()
    (point,) = telemetry.points()
    assert (1, True) == (point.count, 0.2 <= point.sum < 60)
    assert [span.context.trace_id] == [one.trace_id for one in point.exemplars]


def test_ends_are_error_types(telemetry: Telemetry) -> None:
    with create_session("bubblewrap", observers=[telemetry.observer]) as session:
        session.run("1 / 0")
        session.run("class Own(Exception): pass\nraise Own")
        session.run("import os; os.kill(os.getpid(), 9)")
        session.run("import sys; sys.exit(0)")
        session.execute_command("exit 3")
        with pytest.raises(SandboxError):
            session.run("while True: pass", timeout=0.2)
        with pytest.raises(SandboxError):
            session.install(["--evil"])
    spans = telemetry.exporter.get_finished_spans()
    assert [
        ("run_code", "ZeroDivisionError"),
        ("run_code", "_OTHER"),
        ("run_code", "killed"),
        ("run_code", None),
        ("run_command", "error"),
        ("run_code", "SandboxTimeoutError"),
        ("install", "ValidationError"),
    ] == [
        (span.attributes["gen_ai.tool.name"], span.attributes.get("error.type")) for span in spans
    ]
    failed = [span.status.status_code is StatusCode.ERROR for span in spans]
    assert [True, True, True, False, True, True, True] == failed
    kinds = {
        (point.attributes["gen_ai.tool.name"], point.attributes.get("error.type"))
        for point in telemetry.points()
    }
    assert len(kinds) == 7
    # What has many values would make a metric that no one can pay for.
    assert {name for point in telemetry.points() for name in point.attributes} == {
        *("gen_ai.operation.name", "gen_ai.tool.name", "error.type"),
        *("llm_sandbox.backend", "llm_sandbox.language"),
    }


def test_awaited_runs_are_below_their_own_tasks_span(telemetry: Telemetry) -> None:
    tracer = telemetry.tracers.get_tracer("a test")
    parents: dict[str, int] = {}

    async def one(name: str) -> None:
        async with aio.create_session("bubblewrap", observers=[telemetry.observer]) as session:
            with tracer.start_as_current_span(name) as span, tool_call_id(name):
                parents[name] = span.get_span_context().span_id
                await session.run("import time; time.sleep(0.2)")

    async def main() -> None:
        await asyncio.gather(one("a"), one("b"))

    asyncio.run(asyncio.wait_for(main(), 100))
    spans = telemetry.exporter.get_finished_spans()
    runs = [span for span in spans if span.name == "execute_tool run_code"]
    assert parents == {span.attributes["gen_ai.tool.call.id"]: span.parent.span_id for span in runs}


def test_without_an_sdk_nothing_is_asked_of_it() -> None:
    """The API's own providers make nothing of a record, and nothing fails."""
    with create_session("bubblewrap", observers=[OpenTelemetryObserver()]) as session:
        assert "2" == session.run("1 + 1").value
    assert not trace.get_current_span().is_recording()


# --- logs


def test_a_line_cannot_be_forged(lines: Lines) -> None:
    """Neither by the id of a call nor, in a `WithContent`, by output; levels are kept."""
    forged = "x\nrun ok in 0.001 s"
    quiet = LoggingObserver(level=logging.DEBUG)
    with create_session("bubblewrap", observers=[LoggingObserver(), quiet]) as session:
        session.add_observer(WithContent(LoggingObserver(level=logging.WARNING)))
        with tool_call_id(forged):
            session.run(f"print({forged!r})")
    assert [logging.INFO, logging.WARNING] == [line.levelno for line in lines.kept]
    for line in lines.kept:
        assert "\n" not in line.getMessage()
        assert line.getMessage().startswith("run ok in ")
    assert forged == lines.kept[0].__dict__["llm_sandbox"]["tool_call_id"]


def test_structlog_gets_values_and_its_later_settings() -> None:
    """The observer is made before structlog is configured, as in programs whose modules do that."""
    observer = StructlogObserver(level="warning")
    opened = create_session("bubblewrap", observers=[observer])
    with structlog.testing.capture_logs() as events, opened as session:
        session.run("import sys; sys.exit(3)")
    (event,) = events
    expected = {"event": "llm_sandbox.run", "log_level": "warning", "status": "exited"}
    assert expected == {name: event[name] for name in expected}
    assert (event["exit_code"], event["error_type"]) == (3, "SystemExit")
    assert "tool_call_id" not in event
    assert json.loads(json.dumps(event)) == event
    with pytest.raises(ValidationError, match="loud"):
        StructlogObserver(level="loud")  # type: ignore[arg-type]


# --- packages that are not there


@pytest.mark.parametrize(
    ("package", "observer", "extra"),
    [
        ("opentelemetry", OpenTelemetryObserver, "otel"),
        ("structlog", StructlogObserver, "structlog"),
    ],
)
def test_a_missing_package_names_its_command(
    package: str, observer: type, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match="not installed") as caught:
        observer()
    assert caught.value.hint == install_command(extra)


def test_neither_package_is_loaded_before_it_is_used() -> None:
    code = (
        "import sys\nfrom llm_sandbox import OpenTelemetryObserver, StructlogObserver\n"
        "print([name for name in ('opentelemetry', 'structlog') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ("[]\n", "") == (done.stdout, done.stderr)


def test_the_example_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert "run error in" in done.stderr
    assert "error=ZeroDivisionError" in done.stderr
    assert "call=call_1" in done.stderr
    assert "2 runs, 1 of them failed" in done.stdout
    assert '"name": "execute_tool run_code"' in done.stdout
    assert "not to be told" not in done.stdout + done.stderr
