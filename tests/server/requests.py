"""Plain requests, which say exactly what they are told to."""

import http.client
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reply:
    """Answer to a request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    port: int,
    method: str,
    path: str,
    body: Any = None,
    headers: dict[str, str] | list[tuple[str, str]] | None = None,
    *,
    timeout: float = 60.0,
) -> Reply:
    """Send a request to this computer; a body that is no bytes is sent as JSON.

    Headers may be pairs, for those that are there twice.
    """
    pairs = list(headers.items()) if isinstance(headers, dict) else list(headers or [])
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    names = {name.lower() for name, _ in pairs}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.putrequest(method, path, skip_host="host" in names)
        if data is not None:
            pairs.append(("Content-Length", str(len(data))))
            if "content-type" not in names:
                pairs.append(("Content-Type", "application/json"))
        for name, value in pairs:
            connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Reply(answer.status, found, answer.read())
    finally:
        connection.close()


def create(port: int, **options: Any) -> dict[str, Any]:
    """Create a sandbox, and return what the server says about it."""
    headers = options.pop("headers", None)
    body = {"templateID": "base", "timeout": 900, **options}
    reply = ask(port, "POST", "/v2/sandboxes", body, headers)
    assert 201 == reply.status, reply.body
    found: dict[str, Any] = reply.json
    return found


def inside(made: dict[str, Any], inner_port: int = 49983) -> dict[str, str]:
    """The headers of a request for a sandbox."""
    return {
        "E2b-Sandbox-Id": made["sandboxID"],
        "E2b-Sandbox-Port": str(inner_port),
        "X-Access-Token": made["envdAccessToken"],
        "E2B-Traffic-Access-Token": made["trafficAccessToken"],
    }
