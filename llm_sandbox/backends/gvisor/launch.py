"""Start a supervisor in gVisor, and carry its control connection over its standard input and
output.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.connection import Launch, RunningSupervisor, SupervisorEnd
from llm_sandbox.backends.gvisor.launcher import OUT_OF_MEMORY
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.guest.mux import Multiplexer, ProtocolError, StdioTransport

__all__ = ["launch_in_gvisor"]


def launch_in_gvisor(plan: Callable[[], tuple[str, list[int]]]) -> Launch:
    """Return what starts the sandbox.

    Args:
        plan: Makes the plan for `launcher`, and opens descriptors that it inherits.
    """

    def launch(far: socket.socket, log: IO[bytes]) -> RunningSupervisor:
        text, inherited = plan()
        near, theirs = socket.socketpair()
        work = os.memfd_create("llm-sandbox", 0)
        code = (
            f"import sys; sys.path.insert(0, {str(environment.PACKAGE.parent)!r}); "
            "from llm_sandbox.backends.gvisor import launcher; launcher.main()"
        )
        try:
            os.write(work, text.encode())
            os.lseek(work, 0, os.SEEK_SET)
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", code, str(work)],
                stdin=theirs.fileno(),
                stdout=log,
                stderr=log,
                pass_fds=(work, *inherited),
                start_new_session=True,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            )
        except BaseException:
            near.close()
            raise
        finally:
            theirs.close()
            for fd in (work, *inherited):
                os.close(fd)
        return _Carried(process, near, far.dup())

    return launch


class _Carried:
    """The launcher, and the thread that carries between it and the host's end."""

    def __init__(
        self, process: subprocess.Popen[bytes], stream: socket.socket, control: socket.socket
    ) -> None:
        self._process = process
        self._complaint = ""
        self._thread = threading.Thread(
            target=self._carry, args=(stream, control), name="llm-sandbox-gvisor-mux", daemon=True
        )
        self._thread.start()

    def _carry(self, stream: socket.socket, control: socket.socket) -> None:
        channel = ControlChannel(control)
        try:
            transport = StdioTransport(stream.fileno(), stream.fileno())
            Multiplexer(transport, channel, serves=False).run()
        except (ProtocolError, ValueError, OSError) as error:
            # trust: whatever does not keep to the protocol ends its own sandbox.
            self._complaint = f"the sandbox broke the protocol: {error}"
        finally:
            stream.close()
            channel.close()
            # Process 1 ends when its standard input does; this does not ask it.
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()

    def wait(self) -> SupervisorEnd:
        """See `RunningSupervisor`."""
        status = self._process.wait()
        self._thread.join(10.0)
        if status == OUT_OF_MEMORY:
            return SupervisorEnd("it used more memory than it may", oom_killed=True)
        return SupervisorEnd(self._complaint or f"exit status {status}")
