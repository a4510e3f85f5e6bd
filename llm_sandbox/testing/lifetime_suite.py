"""Conformance suite of the lifetime of sandboxes."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from llm_sandbox.backends.base import Backend
from llm_sandbox.exceptions import (
    ContainerError,
    ContainerGoneError,
    SessionClosedError,
    UnsupportedBackendError,
    ValidationError,
)
from llm_sandbox.sandbox import PIPE, Sandbox
from llm_sandbox.testing.suite import MakeSandbox, Suite, eventually, open_descriptors

__all__ = ["LifetimeSuite"]

_HOST = """
import sys, time, warnings
warnings.simplefilter("ignore")
from llm_sandbox.sandbox import Sandbox
sandbox = Sandbox.create(backend=sys.argv[1])
token = sys.argv[2]
process = sandbox.sh(f"(setsid sh -c 'sleep 600; :' {{token}} &); echo up; sleep 600; : {{token}}")
print(next(process.stdout.lines()), flush=True)
sandbox.files.write_text("file", "x")
{end}
"""


def _running(token: str) -> list[str]:
    """Return the command lines of the living processes with `token` in it."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes()
            state = (path / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if token.encode() in words and state != b"Z" and int(path.name) != os.getpid():
            found.append(words.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


class LifetimeSuite(Suite):
    """Behaviours of creation, deadlines, destruction, and the host's death."""

    def test_a_sandbox_has_a_name_of_its_own(self, make: MakeSandbox) -> None:
        """Sandboxes made together are told apart by their id, which their repr shows."""
        one, two = make(), make()

        assert one.id != two.id
        assert one.id in repr(one)

    def test_sandboxes_share_no_files(self, make: MakeSandbox) -> None:
        """A new sandbox's working directory is empty, whatever another wrote."""
        make().files.write_text("mine", "x")

        assert make().files.list() == []

    def test_destroying_ends_programs(self, own: Sandbox) -> None:
        """A program that runs when its sandbox is destroyed ends by a kill."""
        process = own.exec("sleep", "600")
        own.destroy()

        assert process.wait(timeout=5) == 137

    def test_destroying_ends_what_was_left_behind(self, own: Sandbox) -> None:
        """A child that outlived its parent ends with the sandbox."""
        token = f"4{uuid.uuid4().int % 10**8:08}"
        own.sh(f"setsid sleep {token} >/dev/null 2>&1 & ").wait()
        assert eventually(lambda: bool(_running(token)))
        own.destroy()

        assert eventually(lambda: not _running(token))

    def test_destroying_twice_is_fine(self, own: Sandbox) -> None:
        """A second destroy does nothing."""
        own.destroy()
        own.destroy()

        assert (own.end_reason, own.poll()) == ("closed", 137)

    def test_destroying_returns_at_once(self, own: Sandbox) -> None:
        """Destroying does not wait for what is inside."""
        own.sh("trap '' TERM; sleep 600")
        started = time.monotonic()
        own.destroy()

        assert time.monotonic() - started < 1

    def test_a_block_destroys(self, backend: Backend) -> None:
        """Leaving the `with` block, by an exception or not, destroys the sandbox."""
        with Sandbox.create(backend=backend) as quiet:
            assert quiet.poll() is None
        with pytest.raises(ZeroDivisionError), Sandbox.create(backend=backend) as loud:
            1 / 0  # noqa: B018 - any error

        assert (quiet.end_reason, loud.end_reason) == ("closed", "closed")

    def test_use_after_destroying_is_told(self, own: Sandbox) -> None:
        """Everything but looking at it is refused afterwards, by one error."""
        files = own.files
        own.destroy()
        for use in (
            lambda: own.exec("true"),
            lambda: own.files,
            lambda: own.set_timeout(5),
        ):
            with pytest.raises(SessionClosedError):
                use()
        with pytest.raises(ContainerError):
            files.read_bytes("x")

        assert "closed" in repr(own)

    def test_output_outlives_the_sandbox(self, own: Sandbox) -> None:
        """Output of a program can be read after its sandbox is gone."""
        process = own.exec("echo", "kept")
        process.wait()
        own.destroy()

        assert process.collect().stdout == "kept\n"

    def test_the_timeout_ends_it(self, make: MakeSandbox) -> None:
        """A sandbox ends at its timeout by itself, and says so."""
        sandbox = make(timeout=0.5)
        process = sandbox.exec("sleep", "600")
        assert (sandbox.poll(), sandbox.end_reason) == (None, None)

        assert eventually(lambda: sandbox.end_reason == "deadline")
        assert (sandbox.poll(), process.wait(timeout=5)) == (124, 137)
        with pytest.raises(ContainerGoneError):
            sandbox.exec("true")
        with pytest.raises(ContainerGoneError):
            sandbox.files.list()

    def test_the_timeout_can_be_moved(self, make: MakeSandbox) -> None:
        """`set_timeout` puts the end off, brings it near, and takes it away."""
        later = make(timeout=2)
        later.set_timeout(60)
        never = make(timeout=2)
        never.set_timeout(None)
        soon = make()
        soon.set_timeout(0.2)

        assert eventually(lambda: soon.end_reason == "deadline")
        time.sleep(2)
        assert (later.exec("true").wait(), never.exec("true").wait()) == (0, 0)

    @pytest.mark.parametrize(
        "options",
        [
            {"timeout": 0},
            {"timeout": -1},
            {"timeout": "5"},
            {"workdir": "relative"},
            {"workdir": "/a\0b"},
            {"network": "some"},
            {"env": {"A=B": "x"}},
        ],
    )
    def test_options_that_cannot_be_are_refused(
        self, make: MakeSandbox, options: dict[str, object]
    ) -> None:
        """An option that means nothing is refused before anything is made."""
        with pytest.raises(ValidationError):
            make(**options)

    def test_an_unknown_backend_is_refused(self) -> None:
        """A name that no backend has is an error that lists those there are."""
        with pytest.raises(UnsupportedBackendError, match="bubblewrap"):
            Sandbox.create(backend="no-such-backend")

    def test_destroying_while_programs_run_wakes_everyone(self, own: Sandbox) -> None:
        """Threads that wait for, read from and start programs all come back."""
        process = own.exec("cat", stdin=PIPE)
        ends: list[object] = []

        def start() -> None:
            try:
                while True:
                    own.exec("true").collect()
            except ContainerError as error:
                ends.append(error)

        threads = [
            threading.Thread(target=lambda: ends.append(process.wait())),
            threading.Thread(target=lambda: ends.append(process.stdout.read())),
            threading.Thread(target=start),
        ]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        own.destroy()
        for thread in threads:
            thread.join(10)

        assert len(ends) == 3

    def test_destroying_during_a_file_operation_is_told(self, own: Sandbox, tmp_path: Path) -> None:
        """A file operation whose sandbox goes away ends with an error, soon."""
        own.exec("truncate", "-s", "240M", "sparse").wait()
        ends: list[BaseException | None] = []

        def download() -> None:
            try:
                while True:
                    own.files.download("sparse", tmp_path / "copy")
            except Exception as error:  # noqa: BLE001 - which error is the question
                ends.append(error)

        thread = threading.Thread(target=download)
        thread.start()
        time.sleep(0.1)
        own.destroy()
        thread.join(15)

        assert len(ends) == 1
        assert type(ends[0]).__module__.startswith("llm_sandbox")

    def test_one_end_leaves_the_others(self, make: MakeSandbox) -> None:
        """Destroying a sandbox does not touch another's programs."""
        one, two = make(), make()
        process = two.exec("sleep", "600")
        one.destroy()

        assert two.exec("echo", "works").collect().stdout == "works\n"
        assert process.poll() is None

    def test_a_sandbox_outlives_the_thread_that_made_it(self, make: MakeSandbox) -> None:
        """A sandbox made in a thread that ends lives on."""
        made: list[Sandbox] = []
        thread = threading.Thread(target=lambda: made.append(make()))
        thread.start()
        thread.join(30)
        time.sleep(0.2)

        assert made[0].exec("echo", "works").collect().stdout == "works\n"

    def test_sandboxes_can_be_made_at_once(self, make: MakeSandbox) -> None:
        """Threads that make sandboxes at once each get a working one."""
        said: list[str] = []
        threads = [
            threading.Thread(target=lambda: said.append(make().exec("pwd").collect().stdout))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)

        assert len(said) == 6

    def test_a_fork_of_the_host_harms_nothing(self, own: Sandbox) -> None:
        """A forked copy of the host that exits leaves the sandbox and its programs alone."""
        process = own.exec("cat", stdin=PIPE)
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

        assert process.stdin is not None
        process.stdin.write("still here")
        process.stdin.write_eof()
        assert process.collect(timeout=10).stdout == "still here"

    def test_sandboxes_leave_no_descriptors(self, make: MakeSandbox) -> None:
        """Making and destroying sandboxes uses up no descriptors of the host."""
        for _ in range(2):
            make().destroy()
        before = open_descriptors()
        for _ in range(10):
            sandbox = make()
            sandbox.exec("true").collect()
            sandbox.files.write_text("file", "x")
            sandbox.destroy()

        assert eventually(lambda: open_descriptors() <= before)

    @pytest.mark.parametrize(
        "end", ["time.sleep(600)", "", "raise SystemExit(1)", "import os; os._exit(1)"]
    )
    def test_nothing_outlives_the_host(self, backend: Backend, tmp_path: Path, end: str) -> None:
        """Processes and files of sandboxes are gone after the host process ends or is killed."""
        token = f"token-{uuid.uuid4().hex}"
        host = subprocess.Popen(
            [sys.executable, "-c", _HOST.format(end=end), backend.name, token],
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        with host:
            assert host.stdout is not None
            assert host.stdout.readline() == b"up\n"
            if "sleep" in end:
                assert eventually(lambda: len(_running(token)) >= 3), _running(token)
                host.send_signal(signal.SIGKILL)
            host.wait(30)

        assert eventually(lambda: not _running(token)), _running(token)
        assert eventually(lambda: not list(tmp_path.iterdir())), list(tmp_path.iterdir())
