"""Errors as ``application/problem+json``, with the code, whether to repeat, and the hint."""

from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

from llm_sandbox.exceptions import (
    ConfigurationError,
    SandboxError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.server.answers import retry_headers, status_of
from llm_sandbox.server.guard import RefusedError

__all__ = ["MEDIA_TYPE", "Problem", "error_of_validation", "problem_response"]

MEDIA_TYPE = "application/problem+json"

_CODES = {401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed"}


class Problem(BaseModel):
    """Why a request has failed (RFC 9457)."""

    type: str = "about:blank"
    title: str = Field(description="Name of the status.")
    status: int = Field(description="HTTP status.")
    detail: str = Field(description="One sentence.")
    code: str = Field(description="Stable code for programs.")
    retryable: bool = Field(description="Whether the same request may succeed later.")
    hint: str | None = Field(None, description="What to do next.")
    error: dict[str, Any] | None = Field(
        None, description="The library's error, as `SandboxError.to_dict` has it."
    )


def problem_response(error: SandboxError, status: int | None = None) -> JSONResponse:
    """Return the answer for an error.

    Args:
        error: The error.
        status: HTTP status; None for that of its kind.
    """
    if status is None:
        status = error.status if isinstance(error, RefusedError) else status_of(error)
    is_plain = isinstance(error, RefusedError) or type(error) is SandboxError
    code = _CODES.get(status, "invalid_request") if is_plain and status < 500 else error.code
    problem = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=error.message,
        code=str(code),
        retryable=error.retryable,
        hint=error.hint,
        error=None if is_plain else error.to_dict(),
    )
    return JSONResponse(
        problem.model_dump(), status, headers=retry_headers(error), media_type=MEDIA_TYPE
    )


def error_of_validation(error: RequestValidationError) -> ConfigurationError:
    """Return the library's error for a request that its model refuses, without its values."""
    first = error.errors()[0]
    words = str(first["msg"]).removeprefix("Value error, ")
    name, refused, reason = words.partition(" cannot be given over HTTP: ")
    if refused:
        return UnsupportedError(name, reason=reason)
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    return ValidationError(f"invalid {place or 'body'}: {words}", parameter=place or None)
