"""gVisor's machines and sessions, by suites that ship with the library."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.testing.backend_suite import BackendSuite
from llm_sandbox.testing.lifetime_suite import _HOST
from llm_sandbox.testing.session_ending_suite import SessionEndingSuite
from llm_sandbox.testing.session_environment_suite import SessionEnvironmentSuite
from llm_sandbox.testing.session_result_suite import SessionResultSuite
from llm_sandbox.testing.suite import eventually
from tests.gvisor.processes import groups_of, processes_of, still

if TYPE_CHECKING:
    from pathlib import Path

    from llm_sandbox.backends.base import Backend
    from llm_sandbox.sandbox import Sandbox


class TestGvisorMachines(BackendSuite):
    backend_name = "gvisor"

    # The same claims, seen another way: gVisor's processes are not in the host's process table, and
    # /proc/PID/status has fewer lines inside.

    def test_signals_are_as_usual(self, shared: Sandbox) -> None:
        """No signal is ignored or blocked when a program starts."""
        code = (
            "import signal as s\n"
            # 32 and 33 are the C library's own; the others are those that Python itself ignores.
            "own = {32, 33, s.SIGPIPE, s.SIGXFSZ}\n"
            "ignored = [n for n in s.valid_signals() - own if s.getsignal(n) is s.SIG_IGN]\n"
            "print(ignored, s.pthread_sigmask(s.SIG_BLOCK, []))"
        )

        assert shared.exec("python3", "-c", code).collect().stdout == "[] set()\n"

    def test_programs_have_no_privileges(self, shared: Sandbox) -> None:
        """A program is not user 0, has no capability and can gain none."""
        said = shared.sh("id -u; grep -E '^Cap' /proc/self/status").collect().stdout
        user, *rest = said.split("\n")[:-1]
        code = "import ctypes; print(ctypes.CDLL(None).prctl(39, 0, 0, 0, 0))"

        assert user != "0"
        assert len(rest) >= 4
        assert {int(line.split()[1], 16) for line in rest} == {0}
        assert shared.exec("python3", "-c", code).collect().stdout == "1\n"

    def test_destroying_ends_what_was_left_behind(self, own: Sandbox) -> None:
        """A child that outlived its parent ends with the sandbox."""
        own.sh("setsid sleep 600 >/dev/null 2>&1 & ").wait()
        before = processes_of(os.getpid())
        own.destroy()

        # Another sandbox of the suite lives on.
        assert len(before) >= 5
        assert eventually(lambda: len(still(before)) <= len(before) - 5)

    @pytest.mark.parametrize(
        "end", ["time.sleep(600)", "", "raise SystemExit(1)", "import os; os._exit(1)"]
    )
    def test_nothing_outlives_the_host(self, backend: Backend, tmp_path: Path, end: str) -> None:
        """When the host process is killed or ends, its sandboxes' processes, files and groups are
        gone.
        """
        host = subprocess.Popen(
            [sys.executable, "-c", _HOST.format(end=end), backend.name, "token"],
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        ours = []
        try:
            assert host.stdout is not None
            assert host.stdout.readline() == b"up\n"
            if "sleep" in end:
                ours = processes_of(host.pid)
                assert len(ours) >= 5
                host.send_signal(signal.SIGKILL)
            host.wait(30)
        finally:
            host.kill()
            host.communicate()

        assert eventually(lambda: not still(ours)), still(ours)
        assert eventually(lambda: not processes_of(host.pid)), processes_of(host.pid)
        assert eventually(lambda: not groups_of(host.pid)), groups_of(host.pid)
        assert eventually(lambda: not list(tmp_path.iterdir())), list(tmp_path.iterdir())


@pytest.mark.sampled
class TestGvisorSessions(SessionResultSuite, SessionEndingSuite, SessionEnvironmentSuite):
    """Parts of a session that gVisor could break; files and artifacts are the machine's, above."""

    backend_name = "gvisor"
    # Starting and killing processes takes gVisor's kernel ten times as long.
    stopped_within_s = 10.0
