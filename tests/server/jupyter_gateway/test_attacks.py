"""Attacks on the gateway, quotas and its end."""

import asyncio
import contextlib
import os

import pytest
from websockets.exceptions import InvalidStatus

from tests.server.fronts import front, state, text
from tests.server.jupyter_gateway.gateways import Gateway
from tests.server.requests import ask
from tests.server.servers import PATIENCE_S, served, until

IDLE = int(os.environ.get("LLM_SANDBOX_TEST_IDLE", "200"))
"""Number of websockets that say nothing."""


class TestAttacks:
    def test_another_tenants_kernel_is_not_there(
        self, mine: Gateway, other: Gateway, python: str
    ) -> None:
        """The control: its own tenant reaches it."""
        path = f"/api/kernels/{python}"
        assert 200 == mine.ask("GET", path).status
        assert [] == other.ask("GET", "/api/kernels").json
        assert 0 == other.ask("GET", "/api/status").json["kernels"]
        for method, rest in (
            ("GET", ""),
            ("DELETE", ""),
            ("POST", "/interrupt"),
            ("POST", "/restart"),
        ):
            assert 404 == other.ask(method, path + rest).status
        with pytest.raises(InvalidStatus, match="404"), other.front(python):
            pass
        taken = {"path": "t.ipynb", "kernel": {"id": python}}
        assert 404 == other.ask("POST", "/api/sessions", taken).status
        with mine.front(python) as client:
            assert "1" == text(client.run("1"))

    def test_a_page_of_another_origin_is_refused(self, mine: Gateway, python: str) -> None:
        """The control: a page of this server may."""
        own = f"http://127.0.0.1:{mine.server.port}"
        with mine.front(python, origin=own) as client:
            assert "1" == text(client.run("1"))
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
            with pytest.raises(InvalidStatus, match="403"), mine.front(python, origin=origin):
                pass
            headers = {**mine.headers, "Origin": origin}
            assert 403 == mine.ask("POST", "/api/kernels", {}, **headers).status

    @pytest.mark.parametrize("v1", [False, True])
    @pytest.mark.parametrize(
        "data",
        [
            "",
            "[]",
            "{}",
            "[" * 5000,
            '{"header": {"msg_id": 1, "msg_type": "x"}}',
            '{"header": {"msg_id": "1", "msg_type": "x"}, "channel": "iopub"}',
            b"\xff" * 64,
            b"\0\0\0\1\0\0\0\x08{",
            (7).to_bytes(8, "little") + b"\xff" * 56,
            (1 << 60).to_bytes(8, "little"),
        ],
    )
    def test_what_is_no_message_ends_its_sender(
        self, data: str | bytes, v1: bool, mine: Gateway, python: str
    ) -> None:
        with mine.front(python, v1=v1) as client:
            client._line.send(data)
            assert 1007 == client.closing()

    def test_code_that_breaks_the_protocol_ends_its_kernel_only(self, mine: Gateway) -> None:
        kernel_id = mine.start()
        code = (
            "import os, stat\n"
            "for fd in range(3, 64):\n"
            "    try:\n"
            "        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'\\xff' * 4096)\n"
            "    except OSError: pass\n"
            "while True: pass"
        )
        with mine.front(kernel_id) as client:
            assert "the kernel died" in text(client.answers(client.ask(code)))
            assert "2" == text(client.run("1 + 1"))
        mine.end(kernel_id)

    @pytest.mark.anyio
    async def test_idle_websockets_hold_up_nobody(self, mine: Gateway, python: str) -> None:
        """The control: each of them is alive, and hears what the kernel says."""

        def heard() -> str:
            with mine.front(python) as client:
                return text(client.run("'heard'"))

        async with contextlib.AsyncExitStack() as stack:
            idle = [await stack.enter_async_context(mine.listener(python)) for _ in range(IDLE)]
            assert IDLE == mine.model(python)["connections"]
            assert "'heard'" == await asyncio.to_thread(heard)
            for one in (idle[0], idle[-1]):
                while "'heard'" not in await asyncio.wait_for(one.recv(), PATIENCE_S):
                    pass
            for one in idle:
                one.transport.abort()
        until(lambda: mine.model(python)["connections"] == 0)

    def test_a_client_that_does_not_read_holds_up_the_program(self, mine: Gateway) -> None:
        """Its program waits, the server's memory does not grow, and an interrupt still works."""
        import psutil

        process = psutil.Process(mine.server.process.pid)
        kernel_id = mine.start()
        with mine.front(kernel_id, max_queue=1, compression=None) as client:
            before = process.memory_info().rss
            client.ask("n = 0\nwhile True: n += 1; print('x' * 100_000, flush=True)")
            # It is held up where its last output does not change any more.
            moments: list[str] = []

            def stands_still() -> bool:
                moments.append(mine.model(kernel_id)["last_activity"])
                return len(moments) > 10 and 1 == len(set(moments[-10:]))

            until(stands_still)
            assert process.memory_info().rss - before < 100 << 20
            assert 204 == mine.ask("POST", f"/api/kernels/{kernel_id}/interrupt").status
            client.until(lambda one: one["msg_type"] == "execute_reply")
            shown = int(text(client.run("n")))
            assert shown < 2000
        mine.end(kernel_id)


def test_a_quota_counts_kernels(mine: Gateway) -> None:
    """The control: one that ends makes room for another."""
    kernels = []
    while (reply := mine.ask("POST", "/api/kernels", {"name": "bash"})).status == 201:
        kernels.append(reply.json["id"])
        assert len(kernels) < 20
    assert 429 == reply.status
    assert "sandboxes" in reply.json["message"]
    mine.end(kernels.pop())
    kernels.append(mine.start("bash"))
    for kernel_id in kernels:
        mine.end(kernel_id)


def test_the_end_of_the_server_waits_for_cells() -> None:
    """A cell that runs gets its time, and its client is told of the end."""
    with served("--drain", "30") as server:
        kernel = ask(server.port, "POST", "/api/kernels", {}).json["id"]
        with front(server.port, kernel) as client:
            name = client.ask("import time; time.sleep(2); 'ended'")
            client.is_busy(name)
            server.process.terminate()
            until(lambda: 503 == ask(server.port, "POST", "/api/kernels", {}).status)
            assert "'ended'" == text(client.answers(name))
            client.until(lambda one: state(one) == "dead")
            assert 1001 == client.closing()
        assert 0 == server.process.wait(PATIENCE_S)
