"""Conformance suite of streams."""

import threading
import time

import pytest

from llm_sandbox.exceptions import SandboxTimeoutError, UnsupportedError, ValidationError
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import PIPE, Sandbox
from llm_sandbox.testing.suite import MakeSandbox, Suite, eventually, open_descriptors

__all__ = ["StreamSuite"]


class StreamSuite(Suite):
    """Behaviours of standard input, output and error."""

    def test_streams_are_kept_apart(self, shared: Sandbox) -> None:
        """Each stream holds what was written to it and nothing else."""
        result = shared.sh("echo out; echo err >&2").collect()

        assert (result.stdout, result.stderr) == ("out\n", "err\n")

    def test_a_flood_on_stderr_alone_ends(self, shared: Sandbox) -> None:
        """200,000 characters on stderr alone do not hold the program up."""
        process = shared.sh("head -c 200000 /dev/zero | tr '\\0' e >&2")

        assert process.stdout.read() == ""
        assert process.stderr.read() == "e" * 200_000

    def test_interleaved_floods_arrive_whole(self, shared: Sandbox) -> None:
        """Two streams of 3 MB written in turns arrive complete, each in order."""
        program = (
            "import sys\n"
            "for n in range(3000):\n"
            "    sys.stdout.write('o' * 1000); sys.stderr.write('e' * 1000)\n"
        )
        result = shared.exec("python3", "-c", program).collect()

        assert (result.stdout, result.stderr) == ("o" * 3_000_000, "e" * 3_000_000)

    def test_streams_are_read_again(self, shared: Sandbox) -> None:
        """Every way of reading starts at the beginning, every time."""
        process = shared.sh("printf 'a\\nb\\n'")

        assert process.stdout.read() == process.stdout.read() == "a\nb\n"
        assert list(process.stdout.lines()) == list(process.stdout.lines()) == ["a", "b"]
        assert "".join(process.stdout) == "".join(process.stdout) == "a\nb\n"

    def test_the_order_of_reading_does_not_matter(self, shared: Sandbox) -> None:
        """The stream that fills first may be read last."""
        process = shared.sh("head -c 2000000 /dev/zero; echo done >&2")

        assert process.stderr.read() == "done\n"
        assert len(process.stdout.bytes()) == 2_000_000

    def test_nobody_has_to_read(self, shared: Sandbox) -> None:
        """A program ends although nobody reads the 5 MB that it writes."""
        assert shared.sh("head -c 5000000 /dev/zero").wait(timeout=20) == 0

    def test_a_line_of_2_mib_is_one_line(self, shared: Sandbox) -> None:
        """A line longer than any buffer is one line."""
        lines = list(shared.sh("head -c 2097152 /dev/zero | tr '\\0' x").stdout.lines())

        assert [len(line) for line in lines] == [2_097_152]

    def test_only_a_newline_ends_a_line(self, shared: Sandbox) -> None:
        """Carriage returns, form feeds and Unicode line separators end no line."""
        process = shared.exec("printf", "a\\rb\\fc\u2028d\\ne\\n\\nf")

        assert list(process.stdout.lines()) == ["a\rb\fc\u2028d", "e", "", "f"]

    def test_pieces_come_while_the_program_runs(self, shared: Sandbox) -> None:
        """Written output can be read before the program ends."""
        process = shared.sh("echo first; sleep 30; echo last")

        assert next(iter(process.stdout)) == "first\n"
        assert process.poll() is None
        process.kill()

    def test_a_split_character_is_not_broken(self, shared: Sandbox) -> None:
        """A character whose bytes arrive apart is one character."""
        pieces = list(
            shared.sh(
                "printf '\\342'; sleep 0.1; printf '\\202'; sleep 0.1; printf '\\254!'"
            ).stdout
        )

        assert "".join(pieces) == "€!"
        assert all("\\x" not in piece for piece in pieces)

    def test_bytes_that_are_no_text_are_escaped(self, shared: Sandbox) -> None:
        """Invalid UTF-8 appears as escapes and loses nothing around it."""
        result = shared.exec("printf", "a\\377b\\303").collect()

        assert result.stdout == "a\\xffb\\xc3"

    def test_bytes_are_exact(self, shared: Sandbox) -> None:
        """Every byte value arrives as it was written."""
        program = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 100)"

        assert shared.exec("python3", "-c", program).stdout.bytes() == bytes(range(256)) * 100

    def test_lines_and_pieces_come_as_bytes(self, shared: Sandbox) -> None:
        """With `text=False` lines and pieces are the bytes that were written."""
        stream = shared.exec("printf", "a\\r\\377\\nb").stdout

        assert list(stream.lines(text=False)) == [b"a\r\xff", b"b"]
        assert b"".join(stream.chunks(text=False)) == b"a\r\xff\nb"

    def test_50_mb_are_counted(self, shared: Sandbox) -> None:
        """Output beyond the limit is dropped, and every byte of it is counted."""
        result = shared.sh("yes | head -c 50000000").collect()

        assert result.exit_code == 0
        assert len(result.stdout) == shared.limits.output_bytes
        assert result.dropped_bytes == 50_000_000 - shared.limits.output_bytes
        assert (result.stdout_truncated, result.stderr_truncated) == (True, False)

    def test_the_limit_is_the_callers(self, make: MakeSandbox) -> None:
        """`limits.output_bytes` is what is kept of each stream."""
        sandbox = make(limits=Limits(output_bytes=1000))
        process = sandbox.sh("head -c 1500 /dev/zero; head -c 999 /dev/zero >&2")
        result = process.collect()

        assert (len(result.stdout), len(result.stderr)) == (1000, 999)
        assert (process.stdout.truncated, process.stdout.dropped_bytes) == (True, 500)
        assert result.dropped_bytes == 500

    def test_a_limit_of_0_keeps_nothing(self, make: MakeSandbox) -> None:
        """With `output_bytes=0` nothing is kept and everything is counted."""
        result = make(limits=Limits(output_bytes=0)).exec("echo", "four").collect()

        assert (result.stdout, result.dropped_bytes) == ("", 5)

    @pytest.mark.parametrize(
        ("keep", "expected"),
        [
            ("head", "0123"),
            ("tail", "6789"),
            ("both", "01\n[... 6 bytes left out ...]\n89"),
        ],
    )
    def test_collect_keeps_what_is_asked_for(
        self, shared: Sandbox, keep: str, expected: str
    ) -> None:
        """`max_chars` keeps the start, the end, or half of each with a mark between them."""
        result = shared.exec("printf", "0123456789").collect(4, keep=keep)  # type: ignore[arg-type]

        assert (result.stdout, result.dropped_bytes) == (expected, 6)
        assert result.stdout_truncated

    def test_the_end_of_a_long_stream_is_its_end(self, make: MakeSandbox) -> None:
        """The tail of a stream over the limit is what was written last."""
        sandbox = make(limits=Limits(output_bytes=100_000))
        result = sandbox.sh("yes | head -c 5000000; echo last words").collect(20, keep="tail")

        assert result.stdout.endswith("y\nlast words\n")
        assert len(result.stdout) == 20

    def test_collect_twice_is_the_same(self, shared: Sandbox) -> None:
        """A result can be had again."""
        process = shared.sh("echo out; exit 3")

        assert process.collect() == process.collect()

    def test_10_mb_go_in_and_come_out(self, shared: Sandbox) -> None:
        """10 MB on standard input pass through `cat` although both sides are full of them."""
        data = bytes(range(256)) * 40_000

        assert shared.exec("cat", stdin=data).stdout.bytes() == data

    def test_input_is_utf8(self, shared: Sandbox) -> None:
        """Text given as input arrives as UTF-8."""
        assert shared.exec("cat", stdin="grün €").stdout.bytes() == "grün €".encode()

    def test_without_input_there_is_an_end(self, shared: Sandbox) -> None:
        """A program that reads without being given anything reads an end at once."""
        assert shared.exec("cat").collect(timeout=10).stdout == ""

    def test_input_nobody_reads_is_no_error(self, shared: Sandbox) -> None:
        """A program that ends without reading its 5 MB of input ends as it wants."""
        assert shared.exec("true", stdin=b"x" * 5_000_000).wait(timeout=20) == 0

    def test_a_conversation(self, shared: Sandbox) -> None:
        """With `PIPE`, input follows on output until its end is written."""
        process = shared.exec("cat", stdin=PIPE)
        assert process.stdin is not None
        lines = process.stdout.lines()

        process.stdin.write("one\n")
        assert next(lines) == "one"
        process.stdin.write(b"two\n")
        process.stdin.drain(timeout=10)
        assert next(lines) == "two"
        process.stdin.write_eof()
        assert process.wait(timeout=10) == 0

    def test_nothing_is_written_after_the_end(self, shared: Sandbox) -> None:
        """Writing after `write_eof` is refused; a second `write_eof` is not."""
        process = shared.exec("cat", stdin=PIPE)
        assert process.stdin is not None
        process.stdin.write_eof()
        process.stdin.write_eof()

        with pytest.raises(ValidationError, match="write_eof"):
            process.stdin.write("more")

    def test_drain_says_that_nobody_reads(self, shared: Sandbox) -> None:
        """Draining into a program that has closed its input is a broken pipe, not a wait."""
        process = shared.sh("exec <&-; sleep 30", stdin=PIPE)
        assert process.stdin is not None
        # More than is under way to it on any backend.
        process.stdin.write(b"x" * 8_000_000)

        with pytest.raises(BrokenPipeError):
            process.stdin.drain(timeout=20)
        process.kill()

    def test_drain_ends_at_its_timeout(self, shared: Sandbox) -> None:
        """Draining into a program that does not read ends when the time is over."""
        process = shared.exec("sleep", "30", stdin=PIPE)
        assert process.stdin is not None
        # More than is under way to it on any backend.
        process.stdin.write(b"x" * 8_000_000)

        with pytest.raises(SandboxTimeoutError):
            process.stdin.drain(timeout=0.2)
        process.kill()

    def test_a_child_left_behind_does_not_hold_the_streams(self, shared: Sandbox) -> None:
        """Streams end with the program, though a child of it that lives on has them open."""
        started = time.monotonic()
        process = shared.sh("setsid sleep 20 & echo done")

        assert process.collect().stdout == "done\n"
        assert time.monotonic() - started < 5

    def test_a_stream_may_end_before_the_program(self, shared: Sandbox) -> None:
        """Reading a stream that the program has closed does not wait for the program."""
        process = shared.sh("echo out; exec >&- 2>&-; sleep 30")

        assert process.stdout.read() == "out\n"
        assert process.poll() is None
        process.kill()

    def test_a_terminal_merges_the_streams(self, shared: Sandbox) -> None:
        """With a terminal both streams are one, in order; or a terminal is refused by name."""
        try:
            process = shared.sh("echo out; echo err >&2; tty", pty=True)
        except UnsupportedError as error:
            assert "pty" in error.feature  # noqa: PT017 - either of two
            return
        result = process.collect(timeout=20)

        assert result.stdout.startswith("out\r\nerr\r\n/dev/")
        assert result.stderr == ""

    def test_nul_and_escape_pass(self, shared: Sandbox) -> None:
        """Control characters are kept in the result as they are."""
        assert shared.exec("printf", "a\\0b\\033[1mc").collect().stdout == "a\0b\x1b[1mc"

    def test_several_readers_see_everything(self, shared: Sandbox) -> None:
        """Threads that read one stream at once each get all of it."""
        process = shared.sh("for n in 1 2 3 4 5; do head -c 100000 /dev/zero; sleep 0.02; done")
        sizes: list[int] = []
        threads = [
            threading.Thread(target=lambda: sizes.append(sum(map(len, process.stdout))))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)

        assert sizes == [500_000] * 4

    def test_100_programs_leave_no_descriptors(self, shared: Sandbox) -> None:
        """Starting programs, read or not, uses up no descriptors of the host."""
        shared.exec("true", stdin=b"x").collect()
        before = open_descriptors()
        for number in range(100):
            process = shared.sh("echo out; echo err >&2", stdin=PIPE if number % 2 else None)
            if number % 3:
                process.collect()
            else:
                process.wait()
        del process

        assert eventually(lambda: open_descriptors() <= before)
