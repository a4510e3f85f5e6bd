"""The OpenAPI document: generated requests are answered as it says, and never by a failure."""

from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.server.requests import ask
from tests.server.servers import Served

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
SETTINGS = settings(
    max_examples=5,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
OWN_SERVER = ("/v1/backends",)  # asks engines, which takes seconds each time


def test_answers_are_as_the_document_says(server: Served) -> None:
    made = ask(server.port, "POST", "/v1/sessions", {}).json["id"]
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    seen = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path in OWN_SERVER:
            continue
        seen += 1

        @SETTINGS
        @given(case=operation.as_strategy())
        def answered(case: Any) -> None:
            names = case.path_parameters or {}
            ends = case.method.lower() == "delete" and len(names) == 1
            for name in names:
                # Of the session that is there, but for requests that would end it.
                if name in ("session_id", "sandbox_id") and not ends:
                    names[name] = made
            if isinstance(case.body, dict) and "seconds" in case.body:
                case.body["seconds"] = 900
            case.call_and_validate(checks=CHECKS)

        answered()
    assert seen > 40
    assert 200 == ask(server.port, "GET", f"/v1/sessions/{made}").status
    for one in ask(server.port, "GET", "/v1/sandboxes").json:
        if one["id"] != made and one["api"] == "v1" and one["metadata"]:
            ask(server.port, "DELETE", f"/v1/sandboxes/{one['id']}")
