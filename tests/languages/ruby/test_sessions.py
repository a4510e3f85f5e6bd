"""Ruby in sessions: what is kept, how code ends, what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.results.outputs import DisplayOutput, ResultOutput
from llm_sandbox.testing.language_fixtures import RUN_S, LanguageFixtures, timed_out
from llm_sandbox.testing.suite import usable_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.data import ExecutionResult
    from llm_sandbox.session.session import BaseSession

pytestmark = pytest.mark.timeout(240)


class Sessions(LanguageFixtures):
    backend_name = "bubblewrap"


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    usable_backend("bubblewrap")
    session = Sessions.open("ruby")
    yield session
    session.close()


def run(session: BaseSession, code: str, **options: str) -> ExecutionResult:
    return session.run(code, timeout=RUN_S, **options)


def value(session: BaseSession, code: str) -> str | None:
    result = run(session, code)
    assert result.exit_code == 0, result.stderr
    return result.value


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("6 * 7", "42"),
        ("nil", None),
        ("puts 1", None),
        ("3;", None),
        ("# nothing", None),
        ("'é\n'", '"é\\n"'),
        ("def twice(x) = x * 2", ":twice"),
        ("[1, :a, 'b', 2.5, nil]", '[1, :a, "b", 2.5, nil]'),
        ("BasicObject.new", "#<BasicObject>"),
        ("Struct.new(:a).new(1)", "#<struct a=1>"),
        ("(1..40).to_a", "[1,\n 2,"),
        ("'x' * 100", '"' + "x" * 100 + '"'),
    ],
)
def test_values(session: BaseSession, code: str, expected: str | None) -> None:
    """As irb prints them."""
    found = value(session, code)

    assert found == expected or (expected and found and found.startswith(expected))


def test_long_values_are_cut(session: BaseSession) -> None:
    assert len(value(session, "'x' * 5_000_000") or "") < 2 << 20


def test_a_value_that_cannot_be_shown_is_an_error(session: BaseSession) -> None:
    result = run(session, "class Shy; def inspect = raise('no'); end\nShy.new")

    assert result.error is not None
    assert (result.error.name, result.error.value, result.error.line) == ("RuntimeError", "no", 1)


def test_code_is_at_the_top_of_a_program(session: BaseSession) -> None:
    code = "puts self, __FILE__ == $0, __FILE__, __dir__ == Dir.pwd, ARGV.inspect, __LINE__"
    assert run(session, code).stdout == "main\ntrue\nmain.rb\ntrue\n[]\n1\n"
    assert run(session, "puts 1\nreturn if true\nputs 2").stdout == "1\n"
    assert run(session, "puts DATA.read\n__END__\nleft\n").stdout == "left\n"
    run(session, 'File.write("helper.rb", "def help = :helped\\n"); require_relative "helper"')
    assert value(session, "help") == ":helped"


@pytest.mark.parametrize(
    ("code", "name", "message", "line"),
    [
        ("1\nInteger('x')", "ArgumentError", 'invalid value for Integer(): "x"', 2),
        ("def a\n  raise KeyError, 'gone'\nend\n\na", "KeyError", "gone", 2),
        ("require 'json'\n\nJSON.parse('{')", "JSON::ParserError", "'{'", 3),
        ("class Odd < StandardError; def message = 'mine'; end\nraise Odd", "Odd", "mine", 2),
        ("\nraise Exception, 'é ✓'", "Exception", "é ✓", 2),
        ("[1].each do |x|\n  x.nothing\nend", "NoMethodError", "nothing", 2),
        (
            "\nThread.new { Thread.current.report_on_exception = false\nraise 'in' }.join",
            "RuntimeError",
            "in",
            3,
        ),
        ("1\n2\nthrow :x", "UncaughtThrowError", "uncaught throw :x", 3),
        ("def deep(n) = deep(n + 1)\ndeep(0)", "SystemStackError", "stack level too deep", 1),
        ("eval('1 +')", "SyntaxError", "", 1),
        ("raise 'one' rescue raise 'two'", "RuntimeError", "two", 1),
    ],
)
def test_errors(session: BaseSession, code: str, name: str, message: str, line: int) -> None:
    result = run(session, code)

    assert (result.status, result.state) == (RunStatus.ERROR, StateOutcome.KEPT)
    assert result.error is not None
    assert (result.error.name, result.error.line) == (name, line)
    assert message in result.error.value
    assert result.error.kind == "exception"
    assert f"main.rb:{line}:in" in result.stderr
    assert "llm_sandbox" not in result.stderr
    assert result.error.frames[0].file == "main.rb"


def test_frames_and_causes(session: BaseSession) -> None:
    code = "def one = raise('first')\ndef two\n  one\nrescue\n  raise 'second'\nend\ntwo"
    result = run(session, code)

    assert result.error is not None
    frames = [(frame.line, frame.source) for frame in result.error.frames]
    assert (frames[0], frames[-1]) == ((7, "two"), (5, "raise 'second'"))
    assert "first (RuntimeError)" in result.stderr


@pytest.mark.parametrize(
    ("code", "line"),
    [("x = 1\nif then", 2), ("puts 'open", 1), ("a = [1,\n2\n\nclass", 4), ("puts 1\n)", 2)],
)
def test_syntax_errors(session: BaseSession, code: str, line: int) -> None:
    result = run(session, code)

    assert result.error is not None
    assert (result.error.name, result.error.kind) == ("SyntaxError", "syntax")
    assert result.error.line == line
    assert result.error.value
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("code", "exit_code", "stderr"),
    [
        ("exit", 0, ""),
        ("exit 7", 7, ""),
        ("exit false", 1, ""),
        ("begin; exit 3; ensure; puts 'x'; end", 3, ""),
        ("abort 'no more'", 1, "no more\n"),
        ("abort", 1, ""),
        ("raise SystemExit.new(4)", 4, ""),
        ("at_exit { exit 5 }", 5, ""),
        ("exit 300", 44, ""),
    ],
)
def test_exits(session: BaseSession, code: str, exit_code: int, stderr: str) -> None:
    """They end the run; the process stays."""
    run(session, "kept = 1")
    result = run(session, code)

    assert (result.status, result.exit_code) == (RunStatus.EXITED, exit_code)
    assert (result.state, result.stderr) == (StateOutcome.KEPT, stderr)
    assert value(session, "kept") == "1"


def test_an_exit_at_once_ends_the_process(session: BaseSession) -> None:
    result = run(session, "$stdout.write 'x'; $stdout.flush; exit! 6")

    assert (result.status, result.exit_code) == (RunStatus.EXITED, 6)
    assert (result.stdout, result.state) == ("x", StateOutcome.RESET)


def test_blocks_for_the_end(session: BaseSession) -> None:
    """They run at the end of the run that set them, last first, whatever that end is."""
    result = run(session, "at_exit { puts 'a' }\nat_exit { puts 'b' }\nputs 'c'\nraise 'd'")
    assert (result.stdout, result.status) == ("c\nb\na\n", RunStatus.ERROR)
    assert run(session, "puts 'next'").stdout == "next\n"

    result = run(session, "at_exit do\n  puts 'x'\n  raise 'late'\nend\nexit 3")
    assert result.stdout == "x\n"
    assert result.error is not None
    assert (result.error.value, result.error.line) == ("late", 3)


def test_tests_run_at_the_end(session: BaseSession) -> None:
    code = """
require "minitest/autorun"
class SumTest < Minitest::Test
  def test_sum = assert_equal(3, [1, 2].sum)
end
"""
    result = run(session, code)
    if "cannot load such file" in result.stderr:
        pytest.skip("minitest is not installed")

    assert "1 runs, 1 assertions, 0 failures" in result.stdout
    assert result.exit_code == 0


def test_threads(session: BaseSession) -> None:
    """Those that still run at the end of a run go on."""
    run(
        session,
        "box = Queue.new\nworker = Thread.new { box.pop.then { |x| Thread.current[:got] = x } }",
    )
    assert value(session, "box << 5\nworker.join\nworker[:got]") == "5"

    result = run(session, "Thread.new { raise 'lost' }.tap { |t| t.join rescue nil }\nputs 'on'")
    assert result.stdout == "on\n"
    assert "main.rb:1:in" in result.stderr
    assert "lost (RuntimeError)" in result.stderr


def test_a_thread_that_ends_the_program_later(session: BaseSession) -> None:
    """An exception for the main thread between two runs does no harm."""
    run(session, "gate = Queue.new\nThread.new { gate.pop; Thread.main.raise('late') }\nkept = 2")
    run(session, "gate << 1; sleep 0.2 rescue nil")

    assert value(session, "kept") == "2"


@pytest.mark.parametrize(
    "code",
    [
        "loop {}",
        "sleep",
        "system('sleep 100')",
        "Thread.new { sleep }.join",
        "begin; sleep 100; rescue StandardError; puts 'never'; end",
        "begin; sleep 100; ensure; 1 + 1; end",
        "Thread.new { loop {} }.join",
        "`sleep 100`; puts 'never'",
        "Mutex.new.synchronize { sleep 100 }",
        "def again = again2\ndef again2 = (sleep 0.001; again)\nagain",
        "('a' * 40).match?(/(a|aa|aaa)*b\\1/) while true",
    ],
)
def test_interrupts(session: BaseSession, code: str) -> None:
    for timeout in (0.5, 2, 8):
        # On a busy machine the process may have had no turn before it was given up.
        run(session, "kept = 1")
        result = timed_out(session, code, timeout)
        if result.state is StateOutcome.KEPT:
            break

    assert (result.status, result.stdout) == (RunStatus.TIMEOUT, "")
    assert result.error is not None
    assert (result.error.name, result.state) == ("Interrupt", StateOutcome.KEPT)
    assert value(session, "kept") == "1"


def test_interrupts_that_the_code_handles(session: BaseSession) -> None:
    result = timed_out(session, "begin; sleep 100; rescue Interrupt; puts 'caught'; end", 1)
    assert result.stdout == "caught\n"
    assert run(session, "puts 'on'").stdout == "on\n"

    result = timed_out(session, "loop { begin; sleep 9; rescue Interrupt; end }", 0.5)
    assert result.state is StateOutcome.RESET
    assert run(session, "puts 'on'").stdout == "on\n"


def test_input(session: BaseSession) -> None:
    for code in (
        "puts gets, gets",
        "puts $stdin.gets, STDIN.gets",
        "puts $<.read",
        "puts readlines",
    ):
        assert run(session, code, stdin="a\né\n").stdout == "a\né\n"
    assert value(session, "[gets, $stdin.read, $stdin.gets]") == '[nil, "", nil]'
    assert run(session, "puts gets", stdin="again\n").stdout == "again\n"
    result = run(session, "readline")
    assert result.error is not None
    assert result.error.name == "EOFError"
    assert run(session, "puts `cat`", stdin="x\n").stdout == "x\n"


def test_other_processes(session: BaseSession) -> None:
    """They get three streams; one that the code makes of this process ends where the code does."""
    assert run(session, "puts Dir.children('/proc/self/fd').size").exit_code == 0
    assert run(session, "system('ls /proc/self/fd | wc -l')").stdout == "4\n"
    code = "if fork.nil?\n  puts 'child'\n  exit 4\nend\nProcess.wait\nputs $?.exitstatus"
    assert run(session, code).stdout == "child\n4\n"
    result = run(session, "fork\nProcess.wait rescue puts('child')\nputs 'both'")
    assert result.stdout == "child\nboth\nboth\n"
    result = run(session, "fork { raise 'there' }\nProcess.wait\nputs $?.exitstatus")
    assert result.stdout == "1\n"
    assert "there (RuntimeError)" in result.stderr


def test_output_of_the_process_and_its_children_is_in_order(session: BaseSession) -> None:
    code = '3.times { |i| puts i; system("echo child #{i}"); $stderr.puts i }'
    assert run(session, code).stdout == "0\nchild 0\n1\nchild 1\n2\nchild 2\n"


def test_tables(session: BaseSession) -> None:
    code = """
require "date"
[{ name: "a", size: 1, price: 2.5, day: Date.new(2024, 1, 2), ok: true },
 { name: "<b>", size: nil, price: 3, day: nil, ok: false }]
"""
    (table,) = run(session, code).tables
    described = [(column.name, column.type.value) for column in table.columns]
    assert described == [
        ("name", "string"),
        ("size", "integer"),
        ("price", "number"),
        ("day", "date"),
        ("ok", "boolean"),
    ]
    assert table.head == (("a", 1, 2.5, "2024-01-02", True), ("<b>", None, 3, None, False))

    (table,) = run(session, "(1..250).map { |i| { 'i' => i, 'x' => i * 2 } }").tables
    assert (table.shape, len(table.head), len(table.tail)) == ((250, 2), 50, 50)
    (table,) = run(session, "Row = Struct.new(:a, :b)\n[Row.new(1, 2), Row.new(3, 4)]").tables
    assert table.head == ((1, 2), (3, 4))
    (table,) = run(session, "require 'csv'\nCSV.parse(\"a,b\\n1,2\\n\", headers: true)").tables
    assert table.head == (("1", "2"),)
    for other in ("[]", "[{}]", "[{a: 1}, {b: 1}]", "[{a: 1}, 2]", "[{1 => 2}]", "{a: 1}"):
        assert run(session, other).tables == ()


def test_what_is_shown(session: BaseSession) -> None:
    """By the calls that Ruby's notebooks have, and by what values say of themselves."""
    code = """
class Page; def to_html = "<i>page</i>"; end
class Drawing; def to_iruby = ["image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"]; end
IRuby.html "<b>x</b>"
IRuby.display Page.new
IRuby.display "**m**", mime: "text/markdown"
IRuby.table [{ a: 1 }]
Drawing.new
"""
    outputs = [item for item in run(session, code).outputs if isinstance(item, DisplayOutput)]
    assert [item.data.get("text/html") for item in outputs[:2]] == ["<b>x</b>", "<i>page</i>"]
    assert outputs[2].data["text/markdown"] == "**m**"
    assert "application/vnd.llm-sandbox.table+json" in outputs[3].data
    last = run(session, "Drawing.new").outputs[-1]
    assert isinstance(last, ResultOutput)
    assert "image/svg+xml" in last.data
    (plot,) = run(session, "'<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>'").artifacts
    assert plot.mime == "image/svg+xml"


def test_environment_follows(session: BaseSession) -> None:
    run(session, "ENV['MINE'] = 'x'")
    assert value(session, "[ENV['MINE'], ENV['GREETING'].encoding.to_s]") == '["x", "UTF-8"]'


def test_large_code(session: BaseSession) -> None:
    code = "x = '" + "é" * 200_000 + "'\nputs x.size\nraise 'end'"
    result = run(session, code)

    assert result.stdout == "200000\n"
    assert result.error is not None
    assert result.error.line == 3


def test_whole_programs() -> None:
    usable_backend("bubblewrap")
    with Sessions.open("ruby", persistent=False) as session:
        result = run(session, "puts Dir.pwd, __FILE__, __FILE__ == $0\n\nInteger('x')")
        assert result.stdout == f"{session.sandbox.workdir}\nmain.rb\ntrue\n"
        assert result.error is not None
        assert (result.error.name, result.error.line) == ("ArgumentError", 3)
        assert ".llm-sandbox" not in result.stderr

        result = run(session, "puts 1\nif then\n")
        assert result.error is not None
        assert (result.error.kind, result.error.line) == ("syntax", 2)
        result = run(
            session, "IRuby.html '<b>x</b>'\nIRuby.table [{ a: 1 }]\nat_exit { puts 'bye' }"
        )
        assert (result.stdout, len(result.artifacts), len(result.tables)) == ("bye\n", 2, 1)
        assert result.files == ()
