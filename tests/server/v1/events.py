"""Event streams, read as a browser reads them."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """One event of a stream."""

    id: str
    name: str
    data: Any


@contextmanager
def stream(
    port: int, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> Iterator[Iterator[Event]]:
    """The events of an answer as they come; leaving the block closes the connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        given = {"Accept": "text/event-stream", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {**given, **(headers or {})})
        answer = connection.getresponse()
        assert 200 == answer.status, answer.read()
        assert "text/event-stream" == answer.headers["content-type"]
        yield _events(answer)
    finally:
        connection.close()


def _events(answer: http.client.HTTPResponse) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in answer:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif fields:
            yield Event(fields.get("id", ""), fields["event"], json.loads(fields["data"]))
            fields = {}
