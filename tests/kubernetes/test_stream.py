"""Faults of the way to the API server, while a session runs."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox, create_session
from llm_sandbox.exceptions import BackendUnavailableError
from tests.kubernetes.api_proxy import answer

if TYPE_CHECKING:
    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
    from llm_sandbox.results.execution import ExecutionResult
    from tests.kubernetes.api_proxy import ApiProxy

pytestmark = pytest.mark.cluster

CELL = """
import sys
import matplotlib.pyplot as plt
print("a" * 40_000)
print("b" * 10_000, file=sys.stderr)
with open("made.txt", "w") as file:
    file.write("c" * 30_000)
plt.plot([1, 2, 3])
plt.show()
print("end")
"""
EVERY = 1 if os.environ.get("LLM_SANDBOX_TEST_KUBERNETES") == "all" else 3
"""Of the frames of a run, each so many is one before which the stream is cut."""


def _facts(result: ExecutionResult) -> tuple[object, ...]:
    plots = [(plot.format, plot.content_base64) for plot in result.plots]
    files = [(one.name, one.bytes()) for one in result.files]
    return result.exit_code, result.stdout, result.stderr, plots, files


@pytest.mark.slow
def test_a_cut_at_any_frame_changes_nothing(
    through_proxy: KubernetesBackend, proxy: ApiProxy
) -> None:
    """A run with output, a figure and a file has the same result wherever its stream is cut."""
    with create_session(through_proxy) as session:
        session.run(CELL)  # loads libraries, which a later run does not
        session.execute_command("rm -f made.txt")
        proxy.frames = 0
        expected = _facts(session.run(CELL))
        frames = proxy.frames
        assert frames > 2 * EVERY
        for number in range(1, frames + 1, EVERY):
            session.execute_command("rm -f made.txt")
            proxy.frames, proxy.cut_at = 0, number
            found = _facts(session.run(CELL))
            proxy.cut_at = None
            assert found == expected, f"cut at frame {number} of {frames}"
        assert proxy.cuts > frames // EVERY // 2  # a run may have some frames less


@pytest.mark.slow
@pytest.mark.cluster(whole=True)
def test_a_run_outlives_the_api_server(through_proxy: KubernetesBackend, proxy: ApiProxy) -> None:
    """The result of a cell arrives although the server is away for 40 s while it runs."""
    with create_session(through_proxy) as session:
        session.run("x = 1")

        def leave() -> None:
            time.sleep(1)
            with proxy.away():
                time.sleep(40)

        away = threading.Thread(target=leave)
        away.start()
        result = session.run("import time; time.sleep(5); print('still', x)")
        away.join()

        assert "still 1\n" == result.stdout


def test_a_busy_server_is_asked_again(through_proxy: KubernetesBackend, proxy: ApiProxy) -> None:
    """Creation goes on after answers 429 and 500, and makes one pod."""
    refusals = iter([answer(429, "Too Many", headers="Retry-After: 0\r\n"), answer(500, "Oh")])

    def refuse(line: str) -> bytes | None:
        return next(refusals, None) if line.startswith("POST") and "/pods" in line else None

    proxy.refuse = refuse
    with Sandbox.create(backend=through_proxy, network="open") as sandbox:
        assert "in\n" == sandbox.sh("echo in").collect().stdout

    assert next(refusals, None) is None


def test_a_lost_answer_makes_no_second_pod(
    through_proxy: KubernetesBackend, proxy: ApiProxy
) -> None:
    """A creation whose answer was lost finds the pod that it has made."""
    lost = threading.Event()

    def refuse(line: str) -> bytes | None:
        if not line.startswith("POST") or not line.endswith("/pods HTTP/1.1") or lost.is_set():
            return None
        lost.set()
        return answer(504, "Gateway Timeout")

    proxy.refuse = refuse
    owner = through_proxy.pods.owner
    with Sandbox.create(backend=through_proxy, network="open"):
        ours = [
            pod
            for pod in through_proxy.pods.list_ours()
            if pod["metadata"]["labels"]["llm-sandbox/owner"] == owner
        ]
        assert 1 == len(ours)
    assert lost.is_set()


def test_a_server_that_is_not_there_is_said(
    through_proxy: KubernetesBackend, proxy: ApiProxy
) -> None:
    """Without a server the error names its address, and what to type."""
    proxy.is_away = True

    with pytest.raises(BackendUnavailableError, match=proxy.address.removeprefix("http://")) as one:
        through_proxy.ping()

    assert "kubectl cluster-info" in str(one.value.hint)
