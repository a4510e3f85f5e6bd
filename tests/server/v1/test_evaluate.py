"""Evaluations over HTTP: a trainer's requests, and servers as workers of `evaluate`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox.evaluation import EvalLimits, Sample, StdioTest, Task, evaluate
from llm_sandbox.evaluation.engines import HttpEngine
from llm_sandbox.exceptions import BackendUnavailableError, ValidationError
from tests.server.requests import ask
from tests.server.servers import Served, served
from tests.server.v1.events import stream

ROOT = Path(__file__).resolve().parents[3]
CODES = {
    "right": ("print(2 * int(input()))", "AC", 1.0),
    "wrong": ("print(int(input()))", "WA", 0.0),
    "crash": ("1 / 0", "RTE", 0.0),
}
TESTS = [{"kind": "stdio", "stdin": "21", "expected": "42"}]
BODY: dict[str, Any] = {
    "samples": [{"id": name, "code": code, "tests": TESTS} for name, (code, *_) in CODES.items()],
    "limits": {"cpu_time": 2},
}


def verdicts(results: list[dict[str, Any]]) -> dict[str, tuple[str, float]]:
    return {one["id"]: (one["verdict"], one["score"]) for one in results}


EXPECTED = {name: (verdict, score) for name, (_, verdict, score) in CODES.items()}


class TestRoutes:
    def test_results(self, server: Served) -> None:
        reply = ask(server.port, "POST", "/v1/evaluate", BODY)
        assert 200 == reply.status, reply.body
        assert EXPECTED == verdicts(reply.json["results"])
        assert (3, 0) == (reply.json["done"], reply.json["infra"])

    def test_events(self, server: Served) -> None:
        """Results come one by one, with ids from which another client goes on."""
        with stream(server.port, "POST", "/v1/evaluate", BODY) as events:
            found = list(events)
        assert ["result"] * 3 + ["done"] == [event.name for event in found]
        assert EXPECTED == verdicts([event.data for event in found[:3]])
        name = found[0].id.partition("-")[0]
        facts = ask(server.port, "GET", f"/v1/evaluations/{name}").json
        assert ("done", 3, {"AC": 1, "WA": 1, "RTE": 1}) == (
            facts["state"],
            facts["done"],
            facts["verdicts"],
        )
        later = {"Last-Event-ID": found[1].id}
        path = f"/v1/evaluations/{name}/events"
        with stream(server.port, "GET", path, headers=later) as events:
            assert found[2:] == list(events)

    def test_a_client_need_not_wait_and_nothing_is_graded_twice(self, server: Served) -> None:
        key = {"Idempotency-Key": "evaluation"}
        body = {**BODY, "wait": False}
        first, second = (ask(server.port, "POST", "/v1/evaluate", body, key) for _ in range(2))
        assert (202, first.json["id"]) == (first.status, second.json["id"])
        path = f"/v1/evaluations/{first.json['id']}"
        assert EXPECTED == verdicts(ask(server.port, "GET", f"{path}/results").json["results"])
        listed = ask(server.port, "GET", "/v1/evaluations").json
        assert 1 == [one["id"] for one in listed].count(first.json["id"])
        other = ask(server.port, "POST", "/v1/evaluate", {**body, "repeat": 2}, key)
        assert 400 == other.status

    def test_an_evaluation_is_cancelled_and_too_many_are_refused(self, server: Served) -> None:
        slow = {"code": "import time; time.sleep(2)", "tests": TESTS}
        samples = [{"id": str(number), **slow} for number in range(200)]
        body = {"samples": samples, "wait": False}
        made = [ask(server.port, "POST", "/v1/evaluate", body) for _ in range(3)]
        assert [202, 202, 429] == [reply.status for reply in made]
        assert "retry-after" in made[2].headers
        for reply in made[:2]:
            path = f"/v1/evaluations/{reply.json['id']}"
            assert 204 == ask(server.port, "DELETE", path).status
            refused = ask(server.port, "GET", f"{path}/results").json
            assert "the evaluation was cancelled" == refused["detail"]

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"limits": {"memory": "900g"}}, "the operator of this server allows"),
            ({"limits": {"colour": 1}}, "invalid limits"),
            ({"samples": [*BODY["samples"], BODY["samples"][0]]}, "different ids"),
            ({"samples": [{"id": "x"}]}, "expected code or completion"),
            ({"tasks": {"x": {"colour": 1}}}, "colour"),
            ({"language": "cobol"}, "cobol"),
            ({"backend": "local"}, "backend"),
        ],
    )
    def test_what_is_wrong_is_refused(
        self, server: Served, change: dict[str, Any], words: str
    ) -> None:
        reply = ask(server.port, "POST", "/v1/evaluate", {**BODY, **change})
        assert (400, True) == (reply.status, words in reply.json["detail"]), reply.body


@pytest.fixture(scope="module")
def narrow() -> Iterator[Served]:
    """A server whose operator allows little."""
    few = ("--cpus", "1.5", "--limit", "inodes=500", "--limit", "open_files=64")
    with served("--memory", "256m", "--longest-program", "3", *few) as running:
        yield running


@pytest.mark.root
class TestOperatorsLimits:
    @pytest.mark.parametrize("place", ["limits", "samples", "tasks"])
    @pytest.mark.parametrize(
        ("name", "most", "more"),
        [
            ("cpu_time", 3, 3.1),
            ("wall_time", 3, 4),
            ("compile_time", 1, 1.5),
            ("memory", "256m", "257m"),
            ("output", "64m", "65m"),
            ("files", "64m", "65m"),
            ("processes", 128, 129),
            ("cpus", 1.5, 2),
            ("inodes", 500, 501),
            ("open_files", 64, 65),
        ],
    )
    def test_more_is_refused(
        self, narrow: Served, place: str, name: str, most: object, more: object
    ) -> None:
        """The control: as much as the operator allows, or less, is graded."""

        def asked(value: object) -> dict[str, Any]:
            record = {**BODY["samples"][0], "id": "x"}
            if place == "limits":
                return {"samples": [record], "limits": {name: value}}
            if place == "samples":
                return {"samples": [{**record, "limits": {name: value}}]}
            task = {"id": "t", "tests": TESTS, "limits": {name: value}}
            return {"samples": [{"id": "x", "code": "1", "task": "t"}], "tasks": {"t": task}}

        refused = ask(narrow.port, "POST", "/v1/evaluate", asked(more))
        words = f"limits.{name} of"
        assert (400, True) == (refused.status, words in refused.json["detail"]), refused.body
        assert "application/problem+json" == refused.headers["content-type"]
        assert 200 == ask(narrow.port, "POST", "/v1/evaluate", asked(most)).status

    @pytest.mark.parametrize("limits", [None, {"processes": 8}])
    def test_what_is_not_asked_for_is_at_most_the_operators(
        self, narrow: Served, server: Served, limits: dict[str, Any] | None
    ) -> None:
        """The control: a server that allows more gives more."""
        codes = {
            "memory": "x = bytearray(300 << 20); print(2 * int(input()))",
            "time": "import time; time.sleep(4); print(2 * int(input()))",
            "files": "for n in range(501): open(str(n), 'w').close()\nprint(2 * int(input()))",
            "open": "import os; [os.open('/', 0) for n in range(64)]; print(2 * int(input()))",
        }
        samples = [{"id": name, "code": code, "tests": TESTS} for name, code in codes.items()]
        body = {"samples": samples, "limits": limits}
        found = [ask(one.port, "POST", "/v1/evaluate", body).json for one in (narrow, server)]
        little, usual = (verdicts(one["results"]) for one in found)
        refused = {"memory": "MLE", "time": "TLE", "files": "RTE", "open": "RTE"}
        assert {name: (verdict, 0.0) for name, verdict in refused.items()} == little
        assert dict.fromkeys(codes, ("AC", 1.0)) == usual

    def test_an_engine_is_told(self, narrow: Served) -> None:
        engine = HttpEngine([narrow.url])
        with pytest.raises(BackendUnavailableError, match=r"limits\.compile_time of 30"):
            evaluate(_samples(3), engine=engine, **OPTIONS)
        limits = EvalLimits(cpu_time=2, memory="64m", compile_time=1, inodes=500, open_files=64)
        few = {**OPTIONS, "limits": limits}
        assert 3 == len(evaluate(_samples(3), engine=engine, **few))

    @pytest.mark.parametrize(
        ("path", "name", "unit"),
        [
            ("/run_code", "run_timeout", 1),
            ("/run_code", "compile_timeout", 1),
            ("/run_jupyter", "total_timeout", 1),
            ("/run_jupyter", "cell_timeout", 1),
            ("/api/v2/execute", "run_timeout", 1000),
            ("/api/v2/execute", "compile_timeout", 1000),
        ],
    )
    def test_other_programs_have_no_more_time(
        self, narrow: Served, path: str, name: str, unit: int
    ) -> None:
        """The control: the operator's time, and none of the client's, are accepted."""
        bodies: dict[str, dict[str, Any]] = {
            "/run_code": {"code": "1", "language": "python"},
            "/run_jupyter": {"cells": ["1"]},
            "/api/v2/execute": {"language": "python", "version": "*", "files": [{"content": "1"}]},
        }
        refused = ask(narrow.port, "POST", path, {**bodies[path], name: 3.5 * unit})
        assert (True, True) == (refused.status in (400, 422), b"at most" in refused.body)
        for given in ({}, {name: 3 * unit}):
            assert 200 == ask(narrow.port, "POST", path, {**bodies[path], **given}).status

    def test_limits_are_told(self, narrow: Served) -> None:
        told = ask(narrow.port, "GET", "/v1/limits").json
        assert (3, 3, 256 << 20) == (
            told["longest_program_s"],
            told["evaluation"]["wall_time"],
            told["evaluation"]["memory"],
        )


@pytest.fixture(scope="module")
def other() -> Iterator[Served]:
    with served() as running:
        yield running


def _samples(count: int) -> list[Sample]:
    codes = [code for code, *_ in CODES.values()]
    return [Sample(str(n), codes[n % 3], task="double") for n in range(count)]


TASKS = [
    Task(id="double", tests=(StdioTest("21", "42"),)),
    Task(id="unused", tests=(StdioTest("", ""),)),
]
OPTIONS: dict[str, Any] = {
    "tasks": TASKS,
    "limits": EvalLimits(cpu_time=2),
    "progress_bar": False,
}


LOOKING_UP = """
import json, pathlib, sys, time
from llm_sandbox.evaluation import Sample, StdioTest, evaluate
from llm_sandbox.evaluation.engines import HttpEngine, http

http._RESOLVE_S = 0.1
hosts, address = sys.argv[1:]
engine = HttpEngine([address])
seen = []

def note(*_):
    addresses = (("127.0.0.1",), ("127.0.0.1", "127.0.0.2"), ("127.0.0.2",))[len(seen)]
    pathlib.Path(hosts).write_text("".join(f"{one} workers\\n" for one in addresses))
    time.sleep(0.2)
    seen.append(sorted(engine.workers()))

samples = [Sample(str(n), "print(input())", tests=[StdioTest("a", "a")]) for n in range(3)]
report = evaluate(samples, engine=engine, progress_bar=False, on_progress=note)
print(json.dumps([*seen, [str(one.verdict) for one in report]]))
"""


class TestEngine:
    def test_the_results_are_those_of_this_process(
        self, server: Served, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SANDBOX_SERVERS", server.url)
        there = evaluate(_samples(9), engine="http", **OPTIONS)
        here = evaluate(_samples(9), **OPTIONS)

        def facts(report: Any) -> dict[str, tuple[Any, ...]]:
            return {one.id: (one.verdict, one.score, one.key) for one in report}

        assert facts(here) == facts(there)

    def test_a_dead_server_costs_no_sample(self, server: Served, other: Served) -> None:
        """One of two servers is killed in the middle, and a third never answered."""
        seen = 0

        def kill(_: Any) -> None:
            nonlocal seen
            seen += 1
            if seen == 3:
                other.process.send_signal(signal.SIGKILL)

        engine = HttpEngine([server.url, other.url, "http://127.0.0.1:9"])
        report = evaluate(_samples(60), engine=engine, on_progress=kill, **OPTIONS)
        assert -signal.SIGKILL == other.process.wait(30)
        assert 60 == len(report)
        codes = list(EXPECTED.values())
        for one in report:
            assert codes[int(one.id) % 3] == (str(one.verdict), one.score)

    @pytest.mark.root
    def test_each_address_of_a_name_is_a_server(self, server: Served, tmp_path: Path) -> None:
        """A name that has another address later has another worker then, and none that is gone."""
        hosts = tmp_path / "hosts"
        hosts.write_text("127.0.0.1 workers\n")
        script = tmp_path / "client.py"
        script.write_text(LOOKING_UP)
        address = f"dns://workers:{server.port}"
        # Names of its own, in a mount namespace of its own.
        words = 'mount --bind "$0" /etc/hosts && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", words, str(hosts), sys.executable]
        with served("--host", "127.0.0.2", "--port", str(server.port)) as other:
            assert other.port == server.port
            done = subprocess.run(
                [*command, str(script), str(hosts), address],
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                timeout=100,
            )
        one, two = (f"http://127.0.0.{n}:{server.port}" for n in (1, 2))
        assert [[one], [one, two], [two], ["AC"] * 3] == json.loads(done.stdout)

    @pytest.mark.parametrize("address", ["dns://workers", "dns://:8000", "dns://workers:1/path"])
    def test_invalid_names(self, address: str) -> None:
        with pytest.raises(ValidationError, match="expected an address like dns://host:8000"):
            HttpEngine([address])

    def test_without_a_server_nothing_is_scored(self) -> None:
        with pytest.raises(BackendUnavailableError, match="does not answer"):
            evaluate(_samples(3), engine=HttpEngine(["http://127.0.0.1:9"]), **OPTIONS)

    def test_addresses_are_needed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SANDBOX_SERVERS", raising=False)
        with pytest.raises(ValidationError, match="expected addresses, got none"):
            HttpEngine()
        options = {**OPTIONS, "backend": "bubblewrap"}
        with pytest.raises(ValidationError, match="each server has its own"):
            evaluate(_samples(3), engine=HttpEngine(["http://127.0.0.1:9"]), **options)
