"""Tell logs and OpenTelemetry what was run, and never what it said.

pip install '.[otel]' opentelemetry-sdk
python examples/integrations/telemetry.py
"""

import logging
import sys

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

from llm_sandbox import (
    LoggingObserver,
    OpenTelemetryObserver,
    RunRecord,
    create_session,
    tool_call_id,
)


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    traces = TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stdout)))
    records: list[RunRecord] = []
    observers = [records.append, LoggingObserver(), OpenTelemetryObserver(traces)]
    with create_session(observers=observers) as session:
        with tool_call_id("call_1"):
            session.run("print('not ' + 'to be told')")
        session.run("1 / 0")
    failed = [record for record in records if not record.ok]
    print(f"{len(records)} runs, {len(failed)} of them failed")
    traces.shutdown()


if __name__ == "__main__":
    main()
