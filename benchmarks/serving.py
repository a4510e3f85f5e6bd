"""Races of the HTTP server: E2B's SDK against the floor of any HTTP server, and many clients."""

import http.client
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psutil

from benchmarks.live import LivePair
from benchmarks.race import CorrectnessError, Race, Row, Target

__all__ = ["races"]

_REPEATS = 30
_CREATIONS = 10
_CLIENTS = int(os.environ.get("LLM_SANDBOX_BENCH_CLIENTS", "200"))
_CONTEXTS = 10
"""Clients that have interpreters of one sandbox: the rest have others."""
_KEY = "e2b_" + "0" * 40
_FLOOR = """
import socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

async def answer(request):
    return PlainTextResponse("ok")

async def create(request):
    await request.json()
    tokens = dict.fromkeys(("envdAccessToken", "trafficAccessToken"), "0" * 40)
    names = {"templateID": "base", "sandboxID": "0" * 32, "clientID": "floor"}
    return JSONResponse({**names, **tokens, "envdVersion": "0.6.1"}, 201)

# asyncio turns off the delay of small packets only where the protocol is said to be TCP.
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listener.bind(("127.0.0.1", 0))
listener.listen()
print(f"serving at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
paths = ("/sandboxes", "/v2/sandboxes")
routes = [Route("/", answer), *(Route(path, create, methods=["POST"]) for path in paths)]
config = uvicorn.Config(Starlette(routes=routes), log_level="critical")
uvicorn.Server(config).run(sockets=[listener])
"""


class _Process:
    """Server in a process of its own."""

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().split()[-1]
        self.port = int(self.url.rpartition(":")[2])
        # It must never wait for its log to be read.
        self._reader = threading.Thread(target=self._process.stdout.read, daemon=True)
        self._reader.start()

    def cpu_seconds(self) -> tuple[float, float, float]:
        """Return the CPU seconds so far: of this server, of its children, of this process."""
        server = psutil.Process(self._process.pid)
        times = [one.cpu_times() for one in (server, *server.children(recursive=True))]
        own, *others = (one.user + one.system for one in times)
        return own, sum(others), time.process_time()

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(60)
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


class _Servers:
    """Both servers, a sandbox, and a session in this process, opened when first needed."""

    def __init__(self) -> None:
        self.pair = LivePair()
        self._ours: _Process | None = None
        self._floor: _Process | None = None
        self._box: Any = None

    @property
    def ours(self) -> _Process:
        """Return the server of this library."""
        if self._ours is None:
            words = ("serve", "--port", "0", "--backend", "bubblewrap", "--sandboxes", "100")
            self._ours = _Process("-m", "llm_sandbox", *words)
            os.environ["E2B_SANDBOX_URL"] = self._ours.url
        return self._ours

    @property
    def floor(self) -> _Process:
        """Return a server that does nothing."""
        if self._floor is None:
            self._floor = _Process("-c", _FLOOR)
        return self._floor

    @property
    def box(self) -> Any:
        """Return a sandbox of E2B's SDK, which has run code."""
        if self._box is None:
            self._box = self.create()
            self._box.run_code("1")
        return self._box

    def create(self, server: _Process | None = None) -> Any:
        """Create a sandbox by E2B's SDK, by default of the server of this library."""
        from e2b_code_interpreter import Sandbox

        url = (server or self.ours).url
        return Sandbox.create(timeout=600, api_url=url, api_key=_KEY)

    def close(self) -> None:
        """End everything."""
        for one in (self._ours, self._floor):
            if one is not None:
                one.close()
        self.pair.close()
        self._ours = self._floor = self._box = None


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _by_sdk(servers: _Servers) -> Mapping[str, float]:
    box = servers.box

    def run() -> None:
        printed = "".join(box.run_code("print(1)").logs.stdout)
        if printed != "1\n":
            raise CorrectnessError(f"print(1) printed {printed!r}")

    runs = [_timed(run) for _ in range(_REPEATS)]
    creations = []
    for _ in range(_CREATIONS):
        made: list[Any] = []
        creations.append(_timed(lambda made=made: made.append(servers.create())))
        made[0].kill()
        time.sleep(0.2)  # while the next one is made ready
    return {"run": statistics.median(runs), "create": statistics.median(creations)}


def _allowed(servers: _Servers) -> Mapping[str, float]:
    """Return what the server may take: the floor, and three cells or five milliseconds.

    The floor of a creation is a fixed answer, received by the same client.
    """
    line = http.client.HTTPConnection("127.0.0.1", servers.floor.port)

    def ask() -> None:
        line.request("GET", "/")
        if line.getresponse().read() != b"ok":
            raise CorrectnessError("the floor did not answer")

    floor = statistics.median(_timed(ask) for _ in range(_REPEATS))
    line.close()
    session = servers.pair.session
    cell = statistics.median(_timed(lambda: session.run("print(1)")) for _ in range(_REPEATS))
    created = statistics.median(
        _timed(lambda: servers.create(servers.floor)) for _ in range(_CREATIONS)
    )
    return {"run": floor + 3 * cell, "create": created + 0.005, "floor": floor}


class _Client:
    """Client with an interpreter of its own, on a connection of its own."""

    def __init__(self, port: int, made: Mapping[str, str]) -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {
            "E2b-Sandbox-Id": made["sandboxID"],
            "E2b-Sandbox-Port": "49999",
            "X-Access-Token": made["envdAccessToken"],
            "Content-Type": "application/json",
        }
        self._context = json.loads(self._ask("/contexts", {}))["id"]
        self.run()

    def _ask(self, path: str, body: Mapping[str, str]) -> bytes:
        self._line.request("POST", path, json.dumps(body), self._headers)
        return self._line.getresponse().read()

    def run(self) -> float:
        """Run a cell, and return its seconds."""
        started = time.perf_counter()
        answer = self._ask("/execute", {"code": "print(1)", "context_id": self._context})
        if b'"1\\n"' not in answer:
            raise CorrectnessError(f"a client got {answer[:200]!r}")
        return time.perf_counter() - started

    def close(self) -> None:
        """Disconnect."""
        self._line.close()


def _of_many(servers: _Servers) -> Mapping[str, float]:
    boxes = [servers.create() for _ in range(-(-_CLIENTS // _CONTEXTS))]
    port = servers.ours.port
    made = [_tokens(box) for box in boxes]
    clients = [_Client(port, made[number // _CONTEXTS]) for number in range(_CLIENTS)]
    alone = statistics.median(clients[0].run() for _ in range(_REPEATS))
    before = servers.ours.cpu_seconds()
    times = _together(clients)
    used = [
        after - earlier for after, earlier in zip(servers.ours.cpu_seconds(), before, strict=True)
    ]
    for client in clients:
        client.close()
    for box in boxes:
        box.kill()
    worst = statistics.quantiles(times, n=100)[98]
    # Each of them has its turn of the processors, which one alone does not wait for.
    turns = _CLIENTS / (os.cpu_count() or 1)
    names = ("server", "kernels", "client")
    each = {name: seconds / _CLIENTS for name, seconds in zip(names, used, strict=True)}
    return {"p99": worst, "turns": alone * turns, **each}


def _together(clients: Sequence[_Client]) -> list[float]:
    times: list[float] = []
    failures: list[BaseException] = []
    begin = threading.Barrier(len(clients))

    def work(client: _Client) -> None:
        try:
            begin.wait(60)
            times.append(client.run())
        except BaseException as error:  # noqa: BLE001 - raised by the caller
            failures.append(error)

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise CorrectnessError(f"a client failed: {failures[0]!r}")
    return times


def _tokens(box: Any) -> dict[str, str]:
    return {"sandboxID": box.sandbox_id, "envdAccessToken": box._envd_access_token}


def _missing() -> str | None:
    names = ("e2b_code_interpreter", "starlette", "uvicorn")
    absent = [name for name in names if importlib.util.find_spec(name) is None]
    return f"{', '.join(absent)} is not installed" if absent else None


def races() -> list[Race]:
    """Return the races of this theme."""
    servers = _Servers()
    many = _Servers()
    return [
        Race(
            name="serving",
            lanes={"sdk": lambda: _by_sdk(servers), "may": lambda: _allowed(servers)},
            rows=(
                Row(
                    "`run_code` by E2B's SDK and the server",
                    "sdk.run",
                    "may.run",
                    Target("share", 1),
                    compared_with="an HTTP answer and three cells in a live session",
                ),
                Row(
                    "a sandbox created by E2B's SDK",
                    "sdk.create",
                    "may.create",
                    Target("share", 1),
                    compared_with="a fixed answer to the same SDK, and 5 ms",
                ),
            ),
            rounds=5,
            quick_rounds=2,
            finish=servers.close,
            missing=_missing,
        ),
        Race(
            name="serving-many",
            lanes={"many": lambda: _of_many(many)},
            rows=(
                Row(
                    f"`print(1)` of {_CLIENTS} clients at once, the 99th percentile",
                    "many.p99",
                    "many.turns",
                    Target("share", 1),
                    compared_with="that of one client alone, times the clients of a processor",
                ),
                Row("CPU time of the server's process for each of them", "many.server", None),
                Row("CPU time of its kernel for each of them", "many.kernels", None),
                Row("CPU time of the client for each of them", "many.client", None),
            ),
            rounds=3,
            quick_rounds=1,
            finish=many.close,
            missing=_missing,
        ),
    ]
