"""A kernel gateway, as one of its tenants sees it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.asyncio.client import connect

from tests.server.fronts import Front, front
from tests.server.requests import Reply, ask
from tests.server.servers import Served


class Gateway:
    """A server with keys, as one of its tenants sees it."""

    def __init__(self, server: Served, key: str) -> None:
        self.server = server
        self.key = key
        self.headers = {"Authorization": f"token {key}"}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        return ask(self.server.port, method, path, body, headers or self.headers)

    def start(self, name: str = "python3", **body: Any) -> str:
        reply = self.ask("POST", "/api/kernels", {"name": name, **body})
        assert 201 == reply.status, reply.body
        assert reply.headers["location"] == f"/api/kernels/{reply.json['id']}"
        return str(reply.json["id"])

    def end(self, kernel_id: str) -> None:
        assert 204 == self.ask("DELETE", f"/api/kernels/{kernel_id}").status

    def model(self, kernel_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"/api/kernels/{kernel_id}").json
        return found

    @contextmanager
    def front(self, kernel_id: str, **options: Any) -> Iterator[Front]:
        with front(self.server.port, kernel_id, headers=self.headers, **options) as found:
            yield found

    def listener(self, kernel_id: str) -> connect:
        """A client that only listens; it has no thread of its own, so that many are cheap."""
        url = f"ws://127.0.0.1:{self.server.port}/api/kernels/{kernel_id}/channels"
        quiet = {"compression": None, "ping_interval": None, "max_size": None}
        return connect(url, additional_headers=self.headers, **quiet)
