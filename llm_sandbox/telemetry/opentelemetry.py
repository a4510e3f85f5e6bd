"""Observer that reports runs to OpenTelemetry as spans and a histogram, with any SDK."""

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import MissingDependencyError
from llm_sandbox.telemetry import conventions as names
from llm_sandbox.telemetry.record import OTHER, RunContent, RunRecord

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider
    from opentelemetry.util.types import AttributeValue

__all__ = ["OpenTelemetryObserver"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class OpenTelemetryObserver:
    """Observer that creates a span for each record, as child of the current span, and records the
    duration in the histogram ``gen_ai.execute_tool.duration``.

    The span is named for its tool, such as ``execute_tool run_code``; its times are those of the
    run. In a `WithContent`, it has the conventions' attributes for arguments and results.

    Args:
        tracer_provider: Provider of the tracer; None for the global one.
        meter_provider: Provider of the meter; None for the global one.

    Raises:
        MissingDependencyError: OpenTelemetry's API is not installed.
    """

    def __init__(
        self,
        tracer_provider: "TracerProvider | None" = None,
        meter_provider: "MeterProvider | None" = None,
    ) -> None:
        try:
            from opentelemetry import metrics, trace
        except ModuleNotFoundError as error:
            raise MissingDependencyError(
                "opentelemetry-api is not installed", extra="otel"
            ) from error
        self._trace = trace
        self._tracer = trace.get_tracer(names.SCOPE, VERSION, tracer_provider)
        self._duration = metrics.get_meter(names.SCOPE, VERSION, meter_provider).create_histogram(
            names.DURATION,
            unit="s",
            description=names.DURATION_WORDS,
            explicit_bucket_boundaries_advisory=names.BOUNDARIES_S,
        )

    def __call__(self, record: RunRecord, /) -> None:
        """Create the span, and record the duration."""
        tool = names.TOOL_NAMES[record.kind]
        shared: dict[str, AttributeValue] = {
            names.OPERATION: names.EXECUTE_TOOL,
            names.TOOL: tool,
            names.TOOL_TYPE: names.FUNCTION,
        }
        if not record.ok:
            kind = record.error_type or record.status
            shared[names.ERROR_TYPE] = names.CHOSEN_NAME if kind == OTHER else kind
        start = (record.started_at - _EPOCH) // timedelta(microseconds=1) * 1000
        span = self._tracer.start_span(
            f"{names.EXECUTE_TOOL} {tool}",
            kind=self._trace.SpanKind.INTERNAL,
            attributes={**shared, **_attributes(record)},
            start_time=start,
        )
        if not record.ok:
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR))
        span.end(start + int(record.duration_s * 1e9))
        few = {name: shared[name] for name in shared if name != names.TOOL_TYPE}
        few[names.OWN["backend"]] = record.backend
        few[names.OWN["language"]] = record.language
        self._duration.record(record.duration_s, few, context=self._trace.set_span_in_context(span))


def _attributes(record: RunRecord) -> "dict[str, AttributeValue]":
    """Return the attributes of spans only, with too many values for a metric."""
    attributes: dict[str, AttributeValue] = {}
    for field, name in names.OWN.items():
        value = getattr(record, field)
        if value is not None and value != ():
            attributes[name] = value
    attributes.update({names.PHASE + name: value for name, value in record.phases.items()})
    if record.tool_call_id is not None:
        attributes[names.CALL_ID] = record.tool_call_id
    if record.content is not None:
        attributes[names.ARGUMENTS] = json.dumps({"code": record.content.code})
        attributes[names.RESULT] = json.dumps(_result(record.content))
    return attributes


def _result(content: RunContent) -> dict[str, object]:
    # trust: as JSON in ASCII, whatever characters it has.
    fields = ("stdout", "stderr", "value", "error", "names")
    return {name: value for name in fields if (value := getattr(content, name))}
