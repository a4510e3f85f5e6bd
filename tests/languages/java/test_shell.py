"""Pieces of code in a shell that stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import ArtifactSandboxSession
from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from llm_sandbox.results.outputs import ExecutionError
    from llm_sandbox.session.session import BaseSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

RUN_S = 60


def state_after(session: BaseSession, code: str) -> StateOutcome:
    """Have code run into its timeout; returns what became of the state."""
    with pytest.raises(SandboxTimeoutError) as caught:
        session.run(code, timeout=0.5)
    assert isinstance(caught.value.result, ExecutionResult)
    return caught.value.result.state


def error_of(session: BaseSession, code: str) -> ExecutionError:
    error = session.run(code, timeout=RUN_S).error
    assert error is not None
    return error


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("6 * 7", "42"),
        ('"a" + 1', '"a1"'),
        ("int a = 5;\na;", "5"),
        ("new int[] {1, 2}", "int[2] { 1, 2 }"),
        ("List.of(3, 1, 2).stream()\n  .sorted()\n  .map(x -> -x)\n  .toList()", "[-1, -2, -3]"),
        ("var list = new ArrayList<Integer>();\nlist.add(3)", "true"),
        ("var other = new ArrayList<Integer>();\nother.add(3);", None),
        ("int b = 1;\nb = 2", None),
        ("int c = 1;\nc++;", None),
        ("System.gc()", None),
        ("null", None),
        ("(1 + 2) * 3; // no statement", "9"),
        ("int d = 7;;\nd\n// the end", "7"),
        ('String s = """\n  a "}; {" b\n  """;\ns.length()', "11"),
        ("int e = 0;\ndo { e++; } while (e < 3);\ne", "3"),
        ("try { throw new Exception(); }\ncatch (Exception x) { }\nfinally { }\n8", "8"),
        (
            "int f = switch (3) { case 3 -> { yield 4; } default -> throw new Error(); } + 1;\nf",
            "5",
        ),
        ("new Object() { int six() { return 6; } }.six()", "6"),
        ("@Deprecated\nvoid old() { }\n<T> T same(T it) { return it; }\nsame(4)", "4"),
        ("int g = 2\nint h = 3\ng + h", "5"),
    ],
)
def test_value(shared: BaseSession, code: str, value: str | None) -> None:
    """The value of the last expression is the result, but not that of a statement."""
    result = shared.run(code, timeout=RUN_S)

    assert (0, "") == (result.exit_code, result.stderr)
    assert value == result.value


def test_declarations_may_come_in_any_order(shared: BaseSession) -> None:
    shared.run("int outer(int x) { return inner(x) + 1; }", timeout=RUN_S)
    error = error_of(shared, "outer(1)")
    assert "UnresolvedReference" == error.name
    assert "outer cannot be used until method inner(int) is declared" == error.value

    assert "21" == shared.run("int inner(int x) { return x * 20; }\nouter(1)", timeout=RUN_S).value


def test_the_frames_are_lines_of_the_code(shared: BaseSession) -> None:
    code = """\
class Refused extends RuntimeException {
    Refused(String reason, Throwable cause) { super(reason, cause); }
}

void deep(int n) {
    if (n == 0)
        throw new Refused("bad", new IllegalStateException("inner"));
    deep(n - 1);
}
List.of(1).forEach(i ->
    deep(i));"""
    result = shared.run(code, timeout=RUN_S)
    error = result.error

    assert error is not None
    assert ("Refused", "bad", 7) == (error.name, error.value, error.line)
    own = [frame for frame in error.frames if frame.file.startswith("run ")]
    assert [10, 11, 8, 7] == [frame.line for frame in own]
    assert ["", "lambda", "deep", "deep"] == [frame.function for frame in own]
    assert "deep(n - 1);" == own[2].source
    assert "Caused by: java.lang.IllegalStateException: inner" in result.stderr
    assert "JShell" not in result.stderr


def test_deep_recursion_has_a_short_trace(shared: BaseSession) -> None:
    result = shared.run("int down(int n) {\n  return down(n + 1) + 1;\n}\ndown(0)", timeout=RUN_S)

    assert result.error is not None
    assert ("java.lang.StackOverflowError", 2) == (result.error.name, result.error.line)
    assert len(result.stderr.splitlines()) < 60


def test_a_compile_error_has_its_place(shared: BaseSession) -> None:
    error = error_of(shared, "int fine = 1;\n\n  String wrong = fine;")

    assert ("CompileError", "compile", 3, 18) == (error.name, error.kind, error.line, error.column)
    assert "int cannot be converted to java.lang.String" in error.value


def test_an_unknown_name_is_named(shared: BaseSession) -> None:
    assert "cannot find symbol: variable nowhere" == error_of(shared, "1 + nowhere").value


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ('System.out.println("a");\nint x = (;', 2),
        ('System.out.println("a");\n}', 2),
        ('System.out.println("a");\nif (true {\n}\nint y;', 2),
        ('System.out.println("a");\nclass A { int x = ; }\nint y;', 2),
        ('System.out.println("a");\nint z = 1 +', 2),
        ('System.out.println("a");\nString s = "open;\n', 2),
    ],
)
def test_code_that_does_not_parse_does_not_begin(shared: BaseSession, code: str, line: int) -> None:
    result = shared.run(code, timeout=RUN_S)

    assert result.error is not None
    assert ("compile", line) == (result.error.kind, result.error.line)
    assert "" == result.stdout


def test_a_thread_that_fails_is_told(shared: BaseSession) -> None:
    code = """\
var thread = new Thread(() -> { throw new IllegalStateException("apart"); }, "aside");
thread.start();
thread.join();"""
    result = shared.run(code, timeout=RUN_S)

    assert 0 == result.exit_code
    assert 'Exception in thread "aside" java.lang.IllegalStateException: apart' in result.stderr


def test_an_interrupt_leaves_the_state(session: BaseSession) -> None:
    session.run("int kept = 4;", timeout=RUN_S)
    for code in ("while (true) { }", "Thread.sleep(60_000);"):
        for _ in range(3):
            state = state_after(session, code)
            # On a busy machine the shell may have had no turn before it was given up.
            if state is StateOutcome.KEPT:
                break
            session.run("int kept = 4;", timeout=RUN_S)
        assert StateOutcome.KEPT is state

    assert "4" == session.run("kept", timeout=RUN_S).value


def test_a_value_that_takes_for_ever_can_be_stopped(session: BaseSession) -> None:
    session.run("class Slow { public String toString() { while (true); } }", timeout=RUN_S)
    state_after(session, "new Slow()")

    assert "1" == session.run("1", timeout=RUN_S).value


def test_code_that_refuses_to_stop_costs_the_state(session: BaseSession) -> None:
    code = "while (true) { try { Thread.sleep(50); } catch (Throwable any) { } }"
    session.run("1", timeout=RUN_S)

    assert StateOutcome.RESET is state_after(session, code)
    assert "1" == session.run("1", timeout=RUN_S).value


def test_the_start_is_not_the_time_of_the_code() -> None:
    """A timeout that is shorter than the start of a virtual machine is the code's alone."""
    with ArtifactSandboxSession(lang="java", backend="bubblewrap") as session:
        assert "hello\n" == session.run('System.out.println("hello");', timeout=0.9).stdout


def test_exit_ends_the_shell(session: BaseSession) -> None:
    session.run("int gone = 1;", timeout=RUN_S)
    result = session.run('System.out.println("leaving");\nSystem.exit(7);', timeout=RUN_S)

    assert (RunStatus.EXITED, 7, "leaving\n") == (result.status, result.exit_code, result.stdout)
    assert StateOutcome.RESET is result.state
    assert "compile" == error_of(session, "gone").kind


def test_each_run_has_its_own_input(session: BaseSession) -> None:
    code = "var in = new Scanner(System.in); in.nextLine() + in.hasNextLine()"

    assert '"afalse"' == session.run(code, stdin="a\n", timeout=RUN_S).value
    assert '"btrue"' == session.run(code, stdin="b\nleft over\n", timeout=RUN_S).value
    assert '"cfalse"' == session.run(code, stdin="c\n", timeout=RUN_S).value
    assert "java.util.NoSuchElementException" == error_of(session, code).name


def test_variables_that_fill_the_memory_end_the_shell() -> None:
    with ArtifactSandboxSession(
        lang="java", backend="bubblewrap", limits=Limits(memory_bytes=256 << 20)
    ) as session:
        code = "var kept = new ArrayList<byte[]>();\nwhile (true)\n  kept.add(new byte[1 << 20]);"
        result = session.run(code, timeout=RUN_S)
        assert result.error is not None
        assert ("java.lang.OutOfMemoryError", 3) == (result.error.name, result.error.line)
        assert StateOutcome.RESET is result.state

        code = "void fill() {\n  var all = new ArrayList<byte[]>();\n"
        code += "  while (true) all.add(new byte[1 << 20]);\n}\nfill();"
        result = session.run(code, timeout=RUN_S)
        assert StateOutcome.KEPT is result.state
        assert "2" == session.run("1 + 1", timeout=RUN_S).value


def test_children_do_not_get_the_shells_messages(session: BaseSession) -> None:
    start = 'new ProcessBuilder("ls", "/proc/self/fd").start()'
    code = f"new String({start}.getInputStream().readAllBytes())"

    assert '"0\\n1\\n2\\n3\\n"' == session.run(code, timeout=RUN_S).value  # 3 is the folder


def test_classes_of_the_working_directory_are_found(session: BaseSession) -> None:
    code = "package mine; public class Helper { public int six() { return 6; } }"
    session.sandbox.files.write_text("mine/Helper.java", code)
    assert 0 == session.execute_command("javac mine/Helper.java").exit_code

    assert "6" == session.run("import mine.Helper;\nnew Helper().six()", timeout=RUN_S).value


def test_installed_archives_are_found(session: BaseSession, needs: Callable[..., None]) -> None:
    needs("jcommon")
    code = "import org.jfree.date.SerialDate;\nSerialDate.isLeapYear(2024)"

    assert "true" == session.run(code, timeout=RUN_S).value


def test_what_is_shown_between_runs_is_let_go(session: BaseSession) -> None:
    """A thread that shows something when no run is under way does not stop the next one."""
    code = """
        var late = new Thread(() -> {
            try { Thread.sleep(300); } catch (InterruptedException e) { return; }
            sandbox.Display.html("<b>late</b>");
        });
        late.start();
    """
    assert session.run(code).exit_code == 0
    session.execute_command("sleep 1.5")
    result = session.run("late.join(5000); late.isAlive()")
    assert (result.value, result.state) == ("false", "kept")
