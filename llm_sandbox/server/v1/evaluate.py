"""Evaluations: the reward server of a trainer, and a worker of `HttpEngine`."""

import hashlib
from functools import partial
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from llm_sandbox.evaluation.engines.batch_worker import self_test
from llm_sandbox.evaluation.engines.messages import encode, make_evaluator, read_sample
from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.sample import Sample
from llm_sandbox.exceptions import SandboxError, ValidationError
from llm_sandbox.server.answers import in_long_thread, in_thread
from llm_sandbox.server.errors import QuotaExceededError
from llm_sandbox.server.evaluations import Evaluation
from llm_sandbox.server.v1.access import Access, json_response
from llm_sandbox.server.v1.evaluation_limits import narrowed
from llm_sandbox.server.v1.repetitions import idempotency_key
from llm_sandbox.server.v1.streams import (
    DOCUMENTED,
    StreamResponse,
    last_event_id,
    wants_stream,
)

__all__ = ["LARGEST_BODY", "EvaluateBody", "EvaluationFacts", "EvaluationResults", "add_routes"]

LARGEST_BODY = 64 << 20
"""Bytes of samples and tasks."""

_MOST_SAMPLES = 1000
_SILENCE_S = 15.0


class EvaluateBody(BaseModel):
    """Samples to grade, in the formats of the library's own files."""

    model_config = ConfigDict(extra="forbid")

    samples: list[dict[str, Any]] = Field(default_factory=list, max_length=_MOST_SAMPLES)
    tasks: dict[str, dict[str, Any]] = Field(default_factory=dict, description="Tasks by id.")
    tests: list[dict[str, Any]] | None = Field(
        None, description="Tests of samples that have neither tests nor a task."
    )
    limits: dict[str, Any] | None = Field(None, description="`EvalLimits` of samples without.")
    language: str = "python"
    preload: list[str] = Field(default_factory=list)
    score: Literal["all", "fraction", "weighted", "groups"] = "all"
    stop: Literal["first_failure", "never"] | None = None
    repeat: int = Field(1, ge=1, le=100)
    retries: int = Field(3, ge=0, le=10)
    security_policy: dict[str, Any] | None = None
    wait: bool = Field(True, description="Whether the answer waits for the results.")
    check: bool = Field(False, description="Whether the server tests itself, and grades nothing.")


class EvaluationFacts(BaseModel):
    """Evaluation, and how far it is."""

    id: str
    state: Literal["running", "done", "failed"]
    total: int
    done: int
    verdicts: dict[str, int]
    started_at: float
    ended_at: float | None
    error: dict[str, Any] | None


class EvaluationResults(BaseModel):
    """Results of an evaluation, in the order in which they came."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": True})

    results: list[dict[str, Any]] = Field(default_factory=list)
    time_s: float | None = None


def add_routes(router: APIRouter, access: Access) -> None:
    """Add the routes of evaluations."""
    api = _Evaluations(access)
    add = router.add_api_route
    one = "/v1/evaluations/{evaluation_id}"
    stream: dict[int | str, dict[str, Any]] = {
        200: {"content": DOCUMENTED},
        202: {"model": EvaluationFacts},
    }
    add(
        "/v1/evaluate",
        api.evaluate,
        methods=["POST"],
        response_model=EvaluationResults,
        responses=stream,
    )
    add("/v1/evaluations", api.list, methods=["GET"], response_model=list[EvaluationFacts])
    add(one, api.get, methods=["GET"], response_model=EvaluationFacts)
    add(one, api.cancel, methods=["DELETE"], status_code=204)
    add(f"{one}/results", api.results, methods=["GET"], response_model=EvaluationResults)
    add(f"{one}/events", api.events, methods=["GET"], responses={200: stream[200]})


class _Evaluations:
    """Routes of evaluations."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._fleet = access.fleet

    async def evaluate(self, request: Request, body: EvaluateBody) -> Response:
        """Grade samples: results, or events for ``Accept: text/event-stream``.

        A failure of a sandbox has the verdict ``IE`` and no score, and never a score of 0.
        """
        tenant = self._access.tenant(request)
        if body.check:
            return json_response(await in_long_thread(self._check, tenant, body))
        digest = hashlib.sha256(await request.body()).hexdigest()
        samples, make = await in_thread(self._read, tenant, body)
        table, key = self._fleet.evaluations(tenant), idempotency_key(request)
        most = self._access.options.quotas.evaluations
        if table.running >= most and not table.find_repeated(key):
            raise QuotaExceededError("evaluations", most)
        found = table.start(Evaluation(digest, samples), make, self._fleet.run, key)
        if not body.wait:
            return json_response(_facts(found), 202)
        return self._stream(found, 0) if wants_stream(request) else await self._finished(found)

    def _read(self, tenant: str, body: EvaluateBody) -> tuple[list[Sample], Any]:
        """Return the samples, and what makes their evaluator; both are checked.

        Raises:
            UnsupportedError: A limit is more than the operator allows.
            ValidationError: A sample, a task or an option is invalid.
        """
        records = [self._narrowed(record) for record in body.samples]
        samples = _checked("samples", lambda: [read_sample(record) for record in records])
        if len({sample.id for sample in samples}) < len(samples):
            raise ValidationError("invalid samples: expected different ids", parameter="samples")
        make = self._maker(tenant, body)
        # Made once here, so that what is wrong with it is an answer of this request.
        with _checked("tasks", make) as evaluator:
            for sample in samples:
                evaluator.prepare(sample)
        return samples, make

    def _maker(self, tenant: str, body: EvaluateBody) -> partial[Evaluator]:
        options = {
            "language": body.language,
            "preload": body.preload,
            "score": body.score,
            "stop": body.stop,
            "repeat": body.repeat,
            "retries": body.retries,
        }
        setup = encode(
            {
                "options": options,
                "tasks": {name: self._narrowed(task) for name, task in body.tasks.items()},
                "tests": body.tests,
                "limits": narrowed(self._access.options, body.limits),
                "security_policy": body.security_policy,
            }
        )
        backend = self._fleet.backend(tenant, body.language)
        return partial(make_evaluator, setup, None, backend)

    def _narrowed(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a sample or a task whose limits, where it has some, are complete."""
        limits = record.get("limits")
        if not isinstance(limits, dict):
            return record
        return {**record, "limits": narrowed(self._access.options, limits)}

    def _check(self, tenant: str, body: EvaluateBody) -> dict[str, Any]:
        with _checked("tasks", self._maker(tenant, body)) as evaluator, self._fleet.run():
            return self_test(evaluator)

    def _stream(self, found: Evaluation, after: int) -> Response:
        async def nothing() -> None:
            return

        return StreamResponse(found.log, found.id, after, found.end, nothing)

    async def _finished(self, found: Evaluation) -> Response:
        async for _ in found.log.follow(found.log.count, _SILENCE_S):
            pass
        if found.error is not None:
            raise found.error
        return await in_thread(lambda: json_response(_results(found)))

    def _find(self, request: Request, evaluation_id: str) -> Evaluation:
        return self._fleet.evaluations(self._access.tenant(request)).get(evaluation_id)

    async def list(self, request: Request) -> Response:
        """List the evaluations that run, and the last 20 that have ended, oldest first."""
        table = self._fleet.evaluations(self._access.tenant(request))
        return json_response([_facts(one) for one in table.list()])

    async def get(self, request: Request, evaluation_id: str) -> Response:
        """Tell how far an evaluation is."""
        return json_response(_facts(self._find(request, evaluation_id)))

    async def results(self, request: Request, evaluation_id: str) -> Response:
        """Return the results of an evaluation, once it has ended."""
        return await self._finished(self._find(request, evaluation_id))

    async def events(self, request: Request, evaluation_id: str) -> Response:
        """Follow an evaluation; ``Last-Event-ID`` resumes where a client has left."""
        found = self._find(request, evaluation_id)
        resumed = last_event_id(request)
        if resumed is not None and resumed[0] != found.id:
            raise ValidationError(
                "invalid Last-Event-ID: expected that of an event of this evaluation",
                parameter="Last-Event-ID",
            )
        return self._stream(found, 0 if resumed is None else resumed[1])

    async def cancel(self, request: Request, evaluation_id: str) -> Response:
        """Evaluate no further samples than those that are under way."""
        self._find(request, evaluation_id).cancel()
        return Response(status_code=204)


def _checked(name: str, make: Any) -> Any:
    """Return what is made from a client's records, whose faults are the client's."""
    try:
        return make()
    except SandboxError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error).partition("() ")[2]
        raise ValidationError(
            f"invalid {name}: expected the library's own format, {what or error}", parameter=name
        ) from error


def _results(found: Evaluation) -> dict[str, Any]:
    return {"results": [one.to_json() for one in found.results], **found.end()[1]}


def _facts(found: Evaluation) -> dict[str, Any]:
    failed = found.error is not None
    return {
        "id": found.id,
        "state": "running" if found.ended_at is None else "failed" if failed else "done",
        "total": found.total,
        "done": len(found.results),
        "verdicts": found.verdicts,
        "started_at": found.started_at,
        "ended_at": found.ended_at,
        "error": None if found.error is None else found.error.to_dict(),
    }
