"""Conformance suite of the ends of programs."""

import signal
import threading
import time

import pytest

from llm_sandbox.exceptions import (
    CommandEmptyError,
    CommandFailedError,
    LaunchError,
    SandboxTimeoutError,
    ValidationError,
)
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import PIPE, Sandbox
from llm_sandbox.testing.suite import MakeSandbox, Suite, eventually

__all__ = ["EndingSuite"]

# Leaves its session, its group and its parent, and goes on writing.
_ESCAPE = (
    "import os, sys, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        while True:\n"
    "            open('alive', 'a').write('x'); time.sleep(0.01)\n"
    "    os._exit(0)\n"
    "print('started', flush=True)\n"
    "time.sleep(60)\n"
)


def _stopped_growing(sandbox: Sandbox, path: str) -> bool:
    before = sandbox.files.stat(path).size
    time.sleep(0.1)
    return sandbox.files.stat(path).size == before


class EndingSuite(Suite):
    """Behaviours of exit codes, signals, timeouts, kills and failed starts."""

    @pytest.mark.parametrize("code", [0, 1, 3, 124, 126, 127, 255])
    def test_the_exit_code_is_the_programs(self, shared: Sandbox, code: int) -> None:
        """A program's own exit code comes back, whatever it is."""
        result = shared.sh(f"exit {code}").collect()

        assert (result.exit_code, result.signal, result.timed_out) == (code, None, False)

    def test_exit_137_is_no_signal(self, shared: Sandbox) -> None:
        """A program that exits with 137 was neither killed nor out of memory."""
        result = shared.sh("exit 137").collect()

        assert (result.exit_code, result.signal, result.oom_killed) == (137, None, False)

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
    def test_a_signal_is_128_and_its_number(self, shared: Sandbox, number: int) -> None:
        """Death by signal n is exit code 128 + n, and names n."""
        result = shared.sh(f"kill -{int(number)} $$").collect()

        assert (result.exit_code, result.signal) == (128 + number, number)
        assert not result.oom_killed

    def test_a_timeout_is_124(self, shared: Sandbox) -> None:
        """A program that runs past its timeout ends with 124 and says why."""
        result = shared.exec("sleep", "60", timeout=0.2).collect(timeout=20)

        assert (result.exit_code, result.timed_out, result.oom_killed) == (124, True, False)
        assert 0.2 <= result.duration_s < 10

    def test_output_before_a_timeout_is_kept(self, shared: Sandbox) -> None:
        """Output written before the timeout is in the result."""
        result = shared.sh("echo early; echo e >&2; sleep 60", timeout=0.3).collect(timeout=20)

        assert (result.stdout, result.stderr, result.exit_code) == ("early\n", "e\n", 124)

    def test_a_timeout_kills_what_escaped(self, own: Sandbox) -> None:
        """A grandchild after `setsid` and a double fork ends with the timeout of its ancestor."""
        result = own.exec("python3", "-c", _ESCAPE, timeout=1.0).collect(timeout=20)

        assert result.timed_out
        assert eventually(lambda: _stopped_growing(own, "alive"))

    def test_kill_kills_what_escaped(self, own: Sandbox) -> None:
        """A grandchild after `setsid` and a double fork ends when its ancestor is killed."""
        process = own.exec("python3", "-c", _ESCAPE)
        assert next(process.stdout.lines()) == "started"
        assert eventually(lambda: own.files.exists("alive"))

        assert process.kill()
        assert process.wait(timeout=10) == 137
        assert eventually(lambda: _stopped_growing(own, "alive"))

    def test_a_timeout_kills_who_ignores_signals(self, shared: Sandbox) -> None:
        """Ignoring every signal that can be ignored does not outlast a timeout."""
        process = shared.sh("trap '' TERM INT HUP QUIT; while :; do sleep 1; done", timeout=0.3)

        assert process.collect(timeout=20).exit_code == 124

    def test_a_timeout_kills_who_is_stopped(self, shared: Sandbox) -> None:
        """A stopped program is killed at its timeout."""
        assert shared.sh("kill -STOP $$", timeout=0.3).collect(timeout=20).exit_code == 124

    def test_an_end_before_the_timeout_is_no_timeout(self, shared: Sandbox) -> None:
        """A program that ends in time has not timed out."""
        result = shared.exec("true", timeout=30).collect()

        assert (result.exit_code, result.timed_out) == (0, False)

    def test_waiting_too_long_leaves_it_running(self, shared: Sandbox) -> None:
        """`wait(timeout)` raises a `TimeoutError` and the program goes on."""
        process = shared.exec("sleep", "60")

        with pytest.raises(TimeoutError) as caught:
            process.wait(timeout=0.1)
        assert isinstance(caught.value, SandboxTimeoutError)
        assert process.poll() is None
        process.kill()

    def test_collecting_too_long_hands_over_what_there_is(self, shared: Sandbox) -> None:
        """`collect(timeout)` raises with the output so far, and the program goes on."""
        process = shared.sh("echo early; sleep 60")
        assert next(process.stdout.lines()) == "early"

        with pytest.raises(SandboxTimeoutError) as caught:
            process.collect(timeout=0.1)
        assert caught.value.result is not None
        assert caught.value.result.stdout == "early\n"
        assert process.poll() is None
        process.kill()

    def test_kill_after_the_end_is_harmless(self, shared: Sandbox) -> None:
        """Killing what has ended does nothing and says so."""
        process = shared.exec("true")
        process.wait()

        assert (process.kill(), process.kill(), process.signal(15)) == (False, False, False)
        assert process.poll() == 0

    def test_kill_spares_others(self, shared: Sandbox) -> None:
        """Killing one program leaves another running."""
        other = shared.exec("sleep", "60")
        shared.exec("sleep", "60").kill()

        assert other.poll() is None
        assert other.kill()

    def test_kill_of_a_large_program_spares_others(self, shared: Sandbox) -> None:
        """Killing a program whose memory takes time to be given back leaves another running."""
        other = shared.exec("sleep", "60")
        large = shared.exec(
            "python3",
            "-c",
            "x = b'x' * (400 << 20); print('ready', flush=True); input()",
            stdin=PIPE,
        )
        assert next(large.stdout.lines()) == "ready"
        large.kill()

        assert large.wait(timeout=20) == 137
        assert other.poll() is None
        assert other.kill()

    def test_a_signal_arrives(self, shared: Sandbox) -> None:
        """A signal reaches the program, which may handle it."""
        process = shared.sh(
            "trap 'echo caught; exit 7' USR1; echo ready; while :; do sleep 0.05; done"
        )
        assert next(process.stdout.lines()) == "ready"

        assert process.signal(signal.SIGUSR1)
        result = process.collect(timeout=20)
        assert (result.exit_code, result.stdout) == (7, "ready\ncaught\n")

    @pytest.mark.parametrize("number", [0, -1, 65, 1.5, "TERM"])
    def test_what_is_no_signal_is_refused(self, shared: Sandbox, number: object) -> None:
        """Only signal numbers are accepted."""
        process = shared.exec("true")
        with pytest.raises(ValidationError):
            process.signal(number)  # type: ignore[arg-type]

    def test_poll_tells_running_from_ended(self, shared: Sandbox) -> None:
        """`poll` is None while the program runs, then its exit code."""
        process = shared.exec("cat", stdin=PIPE)
        assert process.stdin is not None
        assert (process.poll(), process.returncode) == (None, None)

        process.stdin.write_eof()
        process.wait(timeout=10)
        assert (process.poll(), process.returncode) == (0, 0)

    def test_check_returns_a_success(self, shared: Sandbox) -> None:
        """`check` returns the result of a program that succeeds."""
        assert shared.check("echo", "fine").stdout == "fine\n"

    def test_check_raises_on_failure(self, shared: Sandbox) -> None:
        """`check` raises when the exit status is not 0, with status and output."""
        with pytest.raises(CommandFailedError) as caught:
            shared.check("sh", "-c", "echo why >&2; exit 9")

        assert (caught.value.exit_code, caught.value.output) == (9, "why\n")

    def test_the_duration_is_the_programs(self, shared: Sandbox) -> None:
        """The duration is the program's own, however late it is asked for."""
        process = shared.exec("sleep", "0.2")
        time.sleep(1.0)

        assert 0.15 < process.collect().duration_s < 0.8

    # --- starts that fail

    def test_a_missing_program_is_not_found(self, shared: Sandbox) -> None:
        """A program that is not there is a launch error, not an exit code."""
        with pytest.raises(LaunchError, match="no-such-program") as caught:
            shared.exec("no-such-program")
        assert caught.value.kind == "not_found"

    @pytest.mark.parametrize(
        ("mode", "content"), [(0o644, "#!/bin/sh\n"), (0o755, "neither script nor binary\n")]
    )
    def test_what_cannot_be_executed_is_said(
        self, shared: Sandbox, mode: int, content: str
    ) -> None:
        """A file without the permission, or of no known format, is not executable."""
        path = f"not-executable-{mode:o}"
        shared.files.write_text(path, content, mode=mode)

        with pytest.raises(LaunchError) as caught:
            shared.exec(f"./{path}")
        assert caught.value.kind == "not_executable"

    def test_a_directory_is_not_executable(self, shared: Sandbox) -> None:
        """A directory given as program is not executable."""
        with pytest.raises(LaunchError) as caught:
            shared.exec("/usr")
        assert caught.value.kind == "not_executable"

    def test_a_missing_interpreter_is_not_found(self, shared: Sandbox) -> None:
        """A script whose interpreter is missing is not found."""
        shared.files.write_text("orphan", "#!/no/such/interpreter\n", mode=0o755)

        with pytest.raises(LaunchError) as caught:
            shared.exec("./orphan")
        assert caught.value.kind == "not_found"

    @pytest.mark.parametrize("cwd", ["no-such-directory", "/etc/passwd"])
    def test_a_bad_working_directory_is_said(self, shared: Sandbox, cwd: str) -> None:
        """A working directory that is missing or none is told from a missing program."""
        with pytest.raises(LaunchError) as caught:
            shared.exec("true", cwd=cwd)
        assert caught.value.kind == "bad_cwd"

    def test_failed_starts_leave_it_working(self, shared: Sandbox) -> None:
        """After many failed starts programs start as before."""
        for _ in range(20):
            with pytest.raises(LaunchError):
                shared.exec("no-such-program")

        assert shared.exec("echo", "works").collect().stdout == "works\n"

    def test_an_empty_command_is_refused(self, shared: Sandbox) -> None:
        """A command without words is refused, and a program without a name does not start."""
        with pytest.raises(CommandEmptyError):
            shared.exec()
        with pytest.raises(LaunchError):
            shared.exec("")

    # --- limits

    def test_the_cpu_limit_ends_a_loop(self, make: MakeSandbox) -> None:
        """A busy loop ends when its CPU seconds are used up."""
        process = make(limits=Limits(cpu_seconds=1)).exec("python3", "-c", "while True: pass")

        assert process.collect(timeout=30).signal in (signal.SIGXCPU, signal.SIGKILL)

    def test_the_file_size_limit_holds(self, make: MakeSandbox) -> None:
        """No file grows past its limit."""
        sandbox = make(limits=Limits(file_size_bytes=1 << 20))
        result = sandbox.sh("head -c 2000000 /dev/zero > large").collect()

        assert result.exit_code != 0
        assert sandbox.files.stat("large").size <= 1 << 20

    def test_the_memory_limit_ends_the_program_only(self, make: MakeSandbox) -> None:
        """A program that takes more memory than there is, by its children, is told as such."""
        sandbox = make(limits=Limits(memory_bytes=128 << 20))
        self.need(sandbox, "memory")
        program = "x = []\nfor n in range(4096): x.append(bytearray(b'x' * (1 << 20)))\n"
        # Written to shared memory, which counts against no limit of a single program.
        filled = "head -c 60000000 /dev/zero > /dev/shm/fill; sleep 60 & "
        result = sandbox.sh(f'{filled} exec python3 -c "{program}"').collect(timeout=60)

        assert result.exit_code != 0
        assert result.oom_killed or "MemoryError" in result.stderr
        assert sandbox.exec("echo", "works").collect().stdout == "works\n"

    def test_children_together_meet_the_memory_limit(self, make: MakeSandbox) -> None:
        """Children that are small one by one and large together are killed for memory."""
        sandbox = make(limits=Limits(memory_bytes=160 << 20))
        self.need(sandbox, "memory")
        program = (
            "import os, time\n"
            "children = []\n"
            "for n in range(6):\n"
            "    children.append(os.fork())\n"
            "    if children[-1] == 0:\n"
            "        x = os.urandom(1 << 20) * 60\n"
            "        time.sleep(30)\n"
            "        os._exit(0)\n"
            "pid, status = os.wait()\n"
            "for child in children:\n"
            "    if child != pid: os.kill(child, 9)\n"
            "print(os.waitstatus_to_exitcode(status))\n"
        )
        result = sandbox.exec("python3", "-c", program, timeout=20).collect(timeout=40)
        started = sandbox.exec("echo", "works").collect()

        assert started.stdout == "works\n"
        assert result.oom_killed or result.stdout == "-9\n"
        assert not result.timed_out

    def test_an_oom_kill_is_told_from_a_kill(self, make: MakeSandbox) -> None:
        """A program killed for memory says so, with 137 and the signal."""
        sandbox = make(limits=Limits(memory_bytes=64 << 20, shm_bytes=512 << 20))
        self.need(sandbox, "memory")
        program = (
            "import mmap\n"
            "shared = mmap.mmap(-1, 256 << 20)\n"  # shared: no limit of one program counts it
            "for n in range(0, 256 << 20, 4096): shared[n] = 1\n"
            "import time; time.sleep(20)\n"
        )
        result = sandbox.exec("python3", "-c", program).collect(timeout=60)

        assert (result.exit_code, result.signal, result.oom_killed) == (137, 9, True)

    def test_a_fork_bomb_is_bounded(self, make: MakeSandbox) -> None:
        """A program that only forks stays under the limit and ends at its timeout."""
        sandbox = make(limits=Limits(processes=32))
        self.need(sandbox, "process_count")
        program = (
            "import os, time\n"
            "started = 0\n"
            "while True:\n"
            "    try:\n"
            "        if os.fork() == 0: time.sleep(60)\n"
            "        started += 1\n"
            "    except OSError:\n"
            "        print(started, flush=True); time.sleep(60)\n"
        )
        result = sandbox.exec("python3", "-c", program, timeout=1.5).collect(timeout=30)

        assert result.timed_out
        assert 0 < int(result.stdout.split()[0]) <= 32 + self.process_allowance
        assert eventually(lambda: sandbox.exec("true").collect(timeout=10).exit_code == 0)

    def test_a_shell_fork_bomb_ends(self, make: MakeSandbox) -> None:
        """The classic fork bomb ends at its timeout and leaves a working sandbox."""
        sandbox = make(limits=Limits(processes=40))
        self.need(sandbox, "process_count")
        result = sandbox.exec("bash", "-c", "b() { b | b & b; }; b", timeout=1.5).collect(
            timeout=30
        )

        assert result.exit_code != 0
        assert eventually(lambda: sandbox.sh("echo works").collect(timeout=10).stdout == "works\n")

    def test_many_programs_at_once(self, shared: Sandbox) -> None:
        """Programs started by several threads at once each get their own output."""
        answers: dict[int, str] = {}

        def ask(number: int) -> None:
            answers[number] = shared.sh(f"sleep 0.0{number % 5}; echo {number}").collect().stdout

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)

        assert answers == {number: f"{number}\n" for number in range(24)}

    def test_no_dead_process_is_kept(self, shared: Sandbox) -> None:
        """Orphans that have ended are reaped."""
        self.need(shared, "processes")
        shared.sh("for n in 1 2 3 4 5 6 7 8; do (setsid sleep 0.01 &) ; done").wait()
        count = "grep -ls '^State:.Z' /proc/[0-9]*/status | wc -l"

        assert eventually(lambda: shared.sh(count).collect().stdout.strip() == "0")
