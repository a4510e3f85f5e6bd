"""The client of a server: options, ends, cut connections, and the awaitable twin."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox import create_session
from llm_sandbox.aio import create_session as create_async_session
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    ContainerGoneError,
    SandboxPermissionError,
    SandboxTimeoutError,
    SessionExpiredError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import PIPE
from llm_sandbox.session.session import BaseSession
from tests.server.requests import ask
from tests.server.servers import Served
from tests.server.v1.relays import relayed


@pytest.fixture(scope="module")
def shared(server: Served) -> Iterator[BaseSession]:
    with create_session(server=server.url) as session:
        yield session


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"backend": "docker"}, "the operator of this server has chosen it"),
            ({"image": "debian"}, "images of this server are its templates"),
            ({"mounts": ["/etc:/etc"]}, "folders of the server are not shown"),
            ({"name": "mine"}, "sessions of this server have ids"),
            ({"on_exit": "keep"}, "outlive their clients"),
            ({"runtime_configs": {"privileged": True}}, "are the operator's"),
            ({"network": "internet"}, "has closed it"),
            ({"memory": "9000g"}, "the operator of this server allows"),
            ({"client": object()}, "belongs to this process"),
            ({"pool": object()}, "belongs to this process"),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_what_the_server_refuses_is_an_error(
        self, server: Served, options: dict[str, Any], words: str
    ) -> None:
        with pytest.raises(UnsupportedError) as caught:
            create_session(server=server.url, **options).open()
        assert words in str(caught.value)

    def test_what_is_honoured_here(self, server: Served) -> None:
        records: list[Any] = []
        limits = Limits(output_bytes=1000)
        options: dict[str, Any] = {"observers": [records.append], "limits": limits, "busy": "raise"}
        with create_session(server=server.url, workdir="/data", **options) as session:
            assert 1000 == session.config.limits.output_bytes
            assert 1000 == len(session.run("print('x' * 5000)").stdout)
            assert "/data\n" == session.execute_command("pwd").stdout
        assert ["run", "command"] == [record.kind for record in records]
        assert "remote" == records[0].backend

    def test_an_address_without_a_server(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        with pytest.raises(BackendUnavailableError, match="does not answer") as caught:
            create_session(server=f"http://127.0.0.1:{port}").open()
        assert "llm-sandbox serve starts one" == caught.value.hint
        with pytest.raises(ValidationError, match="invalid server"):
            create_session(server="localhost:8000")


class TestRuns:
    def test_errors_have_their_classes(self, shared: BaseSession, tmp_path: Path) -> None:
        with pytest.raises(SandboxTimeoutError) as caught:
            shared.run("print('x', flush=True)\nwhile True: pass", timeout=0.5)
        assert "x\n" == getattr(caught.value.result, "stdout", None)
        with pytest.raises(SandboxTimeoutError):
            shared.execute_command("sleep 100", timeout=0.2)
        (tmp_path / "up").write_text("up")
        with pytest.raises(SandboxPermissionError, match="places that can be written"):
            shared.copy_to_runtime(tmp_path / "up", "/usr/lib/up")

    def test_another_thread_interrupts(self, shared: BaseSession) -> None:
        begun = threading.Event()

        def stop() -> None:
            begun.wait(30)
            shared.interrupt()

        thread = threading.Thread(target=stop)
        thread.start()
        code = "print('begun', flush=True)\nwhile True: pass"
        result = shared.run(code, on_stdout=lambda _: begun.set())
        thread.join()
        assert (130, "begun\n") == (result.exit_code, result.stdout)

    def test_lines_are_asked_for_one_by_one(self, shared: BaseSession) -> None:
        """An answer may depend on what the code has said before."""
        heard: list[str] = []

        def answers() -> Iterator[str]:
            yield "first"
            yield "".join(heard).strip() + "!"

        code = "print(input(), flush=True)\nprint(input())"
        result = shared.run(code, stdin=answers(), on_stdout=heard.append)
        assert "first\nfirst!\n" == result.stdout

    def test_programs_have_input_terminals_and_signals(self, shared: BaseSession) -> None:
        process = shared.sandbox.exec("cat", stdin=PIPE)
        assert process.stdin is not None
        process.stdin.write(b"\xff\x00")
        process.stdin.write_eof()
        assert (0, b"\xff\x00") == (process.wait(30), process.stdout.bytes())
        shown = shared.sandbox.exec("tty", pty=True)
        assert 0 == shown.wait(30)
        assert "/dev/" in shown.collect().stdout
        sleeper = shared.sandbox.exec("sleep", "1000")
        assert sleeper.kill()
        assert 137 == sleeper.wait(30)
        with pytest.raises(UnsupportedError):
            shared.sandbox.exec("true", stderr="stdout")

    def test_directories_are_copied(self, shared: BaseSession, tmp_path: Path) -> None:
        source = tmp_path / "in" / "deep"
        source.mkdir(parents=True)
        (source / "a.bin").write_bytes(bytes(range(256)) * 4000)
        shared.copy_to_runtime(tmp_path / "in", "folder")
        shared.copy_from_runtime("folder", tmp_path / "out")
        copied = tmp_path / "out" / "deep" / "a.bin"
        assert (source / "a.bin").read_bytes() == copied.read_bytes()


class TestEnds:
    def test_a_session_that_the_server_ended(self, server: Served) -> None:
        session = create_session(server=server.url)
        session.open()
        assert session.is_open
        ask(server.port, "DELETE", f"/v1/sessions/{session.sandbox.id}")
        with pytest.raises(ContainerGoneError):
            session.run("1")
        assert not session.is_open
        session.open()
        assert "2" == session.run("1 + 1").value
        session.close()

    def test_a_session_whose_time_is_over(self, server: Served) -> None:
        with create_session(server=server.url, session_timeout=1) as session:
            result = session.run("import time; time.sleep(20)")
            assert "lost" == result.state.value
            assert not session.is_open
            with pytest.raises(SessionExpiredError):
                session.run("1")

    def test_a_session_whose_time_another_client_has_cut(self, server: Served) -> None:
        """The session is closed as soon as its run is lost, however far its own deadline is."""
        with create_session(server=server.url, session_timeout=600) as session:
            path = f"/v1/sessions/{session.sandbox.id}/timeout"
            ask(server.port, "POST", path, {"seconds": 1})
            result = session.run("import time; time.sleep(20)")
            assert "lost" == result.state.value
            assert not session.is_open

    def test_the_end_of_a_block_ends_the_session(self, server: Served) -> None:
        with create_session(server=server.url) as session:
            name = session.sandbox.id
        assert 404 == ask(server.port, "GET", f"/v1/sessions/{name}").status

    def test_a_cut_connection_loses_and_repeats_nothing(self, server: Served) -> None:
        """A run goes on over a new connection: each output comes once, and code runs once."""
        with relayed(server.port) as relay, create_session(server=relay.url) as session:
            heard: list[str] = []

            def cut(text: str) -> None:
                heard.append(text)
                if not relay.cuts:
                    relay.cut()
                    path = f"/v1/sessions/{session.sandbox.id}/files/go"
                    ask(server.port, "PUT", path, b"")

            code = (
                "import os, time\ncount = globals().get('count', 0) + 1\nprint('a', flush=True)\n"
                "while not os.path.exists('go'): time.sleep(0.01)\nprint('b')\ncount"
            )
            result = session.run(code, on_stdout=cut, timeout=30)
            assert (1, "a\nb\n", "1") == (relay.cuts, "".join(heard), result.value)
            relay.cut()
            assert "1" == session.run("count").value
            assert ["go"] == [entry.name for entry in session.sandbox.files.list()]

    def test_a_cut_connection_of_files_is_replaced(self, server: Served) -> None:
        """The next call has another connection, and no thread of the broken one is left behind."""
        with relayed(server.port) as relay, create_session(server=relay.url) as session:
            files = session.sandbox.files
            files.write_text("a", "kept")
            relay.cut()
            assert "kept" == files.read_text("a")


class TestAwaited:
    def test_the_awaitable_twin(self, server: Served) -> None:
        async def work() -> None:
            heard: list[str] = []

            async def hear(text: str) -> None:
                heard.append(text)

            async with create_async_session(server=server.url) as session:
                await session.run("kept = 41; print('x')", on_stdout=hear)
                assert ["x\n"] == heard
                begun = asyncio.Event()

                async def begin(_: str) -> None:
                    begun.set()

                code = "print('begun', flush=True)\nwhile True: pass"
                task = asyncio.create_task(session.run(code, on_stdout=begin))
                await begun.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert "42" == (await session.run("kept + 1")).value
                assert 3 == (await session.execute_command("exit 3")).exit_code

        asyncio.run(work())
