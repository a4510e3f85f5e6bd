"""Messages of kernels, on the wire."""

import re

import pytest
from websockets.exceptions import InvalidStatus

from tests.server.fronts import state, text
from tests.server.jupyter_gateway.gateways import Gateway
from tests.server.servers import until


class TestChannels:
    @pytest.mark.parametrize("v1", [False, True])
    def test_both_forms_carry_buffers(self, v1: bool, mine: Gateway, python: str) -> None:
        """A widget's message there, and its answer."""
        code = (
            "def opened(comm, message):\n"
            "    comm.send({'n': 1}, buffers=[bytes(message['buffers'][0])[::-1], b'two'])\n"
            "get_ipython().kernel.comm_manager.register_target('t', opened)"
        )
        with mine.front(python, v1=v1) as client:
            assert "" == text(client.run(code))
            content = {"comm_id": f"c{v1}", "target_name": "t", "data": {}}
            client.send("comm_open", content, buffers=[b"abc"])
            answer = client.until(lambda one: one["msg_type"] == "comm_msg")[-1]
        assert [b"cba", b"two"] == [bytes(one) for one in answer["buffers"]]

    def test_a_message_without_a_channel_is_for_the_shell(self, mine: Gateway, python: str) -> None:
        with mine.front(python) as client:
            name = client.send("execute_request", {"code": "3"}, None)
            assert "3" == text(client.answers(name))

    def test_two_clients_see_everything_and_get_their_own_replies(
        self, mine: Gateway, python: str
    ) -> None:
        with mine.front(python) as one, mine.front(python, v1=True) as two:
            name = one.ask("print('seen'); input()", allow_stdin=True)
            two.until(lambda seen: "seen" in text([seen]))
            # Busy, it says at once what it is, and then that it is busy still.
            known = two.answers(two.send("kernel_info_request", {}))
            reply = next(one for one in known if one["channel"] == "shell")
            assert "python" == reply["content"]["language_info"]["name"]
            assert "busy" == state(two.receive())
            one.until(lambda seen: seen["msg_type"] == "input_request")
            one.send("input_reply", {"value": ""}, "stdin")
            assert "execute_reply" in {seen["msg_type"] for seen in one.answers(name)}
            rest = two.until(
                lambda seen: state(seen) == "idle" and seen["parent_header"]["msg_id"] == name
            )
            assert {"iopub"} == {seen["channel"] for seen in rest}

    @pytest.mark.parametrize("same", [True, False])
    def test_who_comes_back_gets_what_it_missed(
        self, same: bool, mine: Gateway, python: str
    ) -> None:
        """Another client gets nothing of it."""
        mark = f"mark-{same}"
        with mine.front(python, query="?session_id=a") as client:
            name = client.ask(f"import time; time.sleep(1); print({mark!r})")
            client.is_busy(name)
        until(lambda: mine.model(python)["execution_state"] == "idle")
        with mine.front(python, query=f"?session_id={'a' if same else 'b'}") as client:
            last = client.ask("'last'")
            seen = client.until(
                lambda one: one["parent_header"].get("msg_id") == last and state(one) == "idle"
            )
        kinds = {one["msg_type"] for one in seen if one["parent_header"].get("msg_id") == name}
        assert same == (mark in text(seen))
        assert same == ("execute_reply" in kinds)

    def test_what_is_missed_is_bounded(self, mine: Gateway) -> None:
        """The oldest is left out, and that is said."""
        kernel_id = mine.start()
        with mine.front(kernel_id, query="?session_id=a") as client:
            code = "for n in range(300): print(n, 'x' * 100_000, flush=True)\nprint('last')"
            client.is_busy(client.ask(f"import time; time.sleep(1)\n{code}"))
        until(lambda: mine.model(kernel_id)["execution_state"] == "idle")
        with mine.front(kernel_id, query="?session_id=a") as client:
            seen = text(client.until(lambda one: one["msg_type"] == "execute_reply"))
        assert re.match(r"\[\d+ messages came while no client was connected", seen)
        assert "last" in seen
        assert len(seen) < 9 << 20
        mine.end(kernel_id)

    def test_a_kernel_that_dies_is_started_again(self, mine: Gateway) -> None:
        """The running cell and the waiting ones have their answers, and files are kept."""
        kernel_id = mine.start()
        with mine.front(kernel_id) as client:
            client.run("open('kept', 'w').write('here'); x = 1")
            one, two = (client.ask(code) for code in ("import os; os.kill(os.getpid(), 9)", "x"))
            for name in (one, two):
                seen = client.answers(name)
                assert "KernelEnded: the kernel died (signal 9)" in text(seen)
                (reply,) = [message for message in seen if message["msg_type"] == "execute_reply"]
                assert "error" == reply["content"]["status"]
            client.until(lambda seen: state(seen) == "restarting")
            assert "NameError" in text(client.run("x"))
            assert "'here'" == text(client.run("open('kept').read()"))
        mine.end(kernel_id)

    def test_a_restart_is_told_to_everybody(self, mine: Gateway, python: str) -> None:
        """Code that runs is ended with its interpreter, even if it hears no interrupt."""
        with mine.front(python) as one, mine.front(python) as two:
            one.run("import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN); kept = 1")
            old = text(one.run("os.getpid()"))
            name = one.ask("while True: pass")
            one.is_busy(name)
            reply = mine.ask("POST", f"/api/kernels/{python}/restart")
            assert (200, python) == (reply.status, reply.json["id"])
            assert "the kernel was restarted" in text(one.answers(name))
            for client in (one, two):
                seen = client.until(lambda seen: state(seen) == "starting")
                # For JupyterLab, that would be a kernel that has died.
                assert "restarting" not in map(state, seen)
                assert "NameError" in text(client.run("kept"))
            seen = text(
                one.run("import os; [name for name in os.listdir('/proc') if name.isdigit()]")
            )
            assert f"'{old}'" not in seen
            assert f"'{text(one.run('os.getpid()'))}'" in seen

    def test_a_client_may_ask_for_the_end(self, mine: Gateway) -> None:
        kernel_id = mine.start("bash")
        with mine.front(kernel_id) as client:
            client.send("shutdown_request", {"restart": True}, "control")
            client.until(lambda seen: state(seen) == "restarting")
            assert "1\n" == text(client.run("echo 1"))
            client.send("shutdown_request", {"restart": False}, "control")
            client.until(lambda seen: seen["msg_type"] == "shutdown_reply")
            assert 1001 == client.closing()
        assert 404 == mine.ask("GET", f"/api/kernels/{kernel_id}").status

    def test_the_end_of_a_kernel_ends_its_clients(self, mine: Gateway) -> None:
        kernel_id = mine.start()
        with mine.front(kernel_id) as client:
            name = client.ask("while True: pass")
            client.is_busy(name)
            mine.end(kernel_id)
            assert "the kernel was ended" in text(client.answers(name))
            client.until(lambda seen: state(seen) == "dead")
            assert 1001 == client.closing()
        with pytest.raises(InvalidStatus, match="404"), mine.front(kernel_id):
            pass
