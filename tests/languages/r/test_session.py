"""Sessions in R: variables, output, displays and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.results.outputs import DisplayOutput, ResultOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox import ExecutionResult
    from llm_sandbox.session.session import BaseSession

pytestmark = pytest.mark.timeout(180)
RUN_S = 100


@pytest.fixture
def run(shared: BaseSession) -> Callable[..., ExecutionResult]:
    """Run code in the shared session."""

    def run(code: str, **options: Any) -> ExecutionResult:
        return shared.run(code, timeout=RUN_S, **options)

    return run


@pytest.mark.parametrize(
    ("code", "stdout", "value"),
    [
        ("1 + 1", "", "[1] 2"),
        ("1\n2\n3", "[1] 1\n[1] 2\n", "[1] 3"),
        ("x <- 5", "", None),
        ("(x <- 5)", "", "[1] 5"),
        ("invisible(5)", "", None),
        ("print('a')", '[1] "a"\n', None),
        ("NULL", "", "NULL"),
        ("if (FALSE) 1", "", None),
        ("for (i in 1:2) i", "", None),
        ("f <- function() 1; f()", "", "[1] 1"),
        ("function( a )  a", "", "function( a )  a"),
        ("list(1, b = 'c')", "", '[[1]]\n[1] 1\n\n$b\n[1] "c"\n'),
        ("factor(c('u', 'v'))", "", "[1] u v\nLevels: u v"),
        ("structure(1, class = 'mine')\nprint.mine <- function(x, ...) cat('MINE\\n')", None, None),
        ("5; # nothing more\n\n", "", "[1] 5"),
        ("", "", None),
        ("# nothing", "", None),
        ("x <- 1\r\nx + 1\r\n", "", "[1] 2"),
    ],
)
def test_values(run: Any, code: str, stdout: str | None, value: str | None) -> None:
    """Values are printed as R prints them, and the last one is the run's."""
    result = run(code)

    assert (result.stderr, result.value) == ("", value)
    assert stdout is None or result.stdout == stdout


def test_printing_uses_methods(run: Any) -> None:
    result = run("""
setClass("Point", representation(x = "numeric"))
setMethod("show", "Point", function(object) cat("<point ", object@x, ">\\n", sep = ""))
print.mine <- function(x, ...) cat("<mine>\\n")
structure(1, class = "mine")
new("Point", x = 3)
""")

    assert (result.stdout, result.value) == ("<mine>\n", "<point 3>")


def test_last_value(run: Any) -> None:
    run("40 + 2")

    assert run("cat(.Last.value)").stdout == "42"


def test_a_table_is_shown_once(run: Any) -> None:
    """A data frame is one display with its text, its page and its cells; it is not printed too."""
    result = run("""
frame <- data.frame(name = c("a", "<b>"), value = c(1.5, NA), day = as.Date(c("2024-01-02", NA)))
frame
matrix(1:4, 2)
""")

    assert result.stdout == ""
    shown, value = result.outputs
    assert isinstance(shown, DisplayOutput)
    assert isinstance(value, ResultOutput)
    assert str(shown.data["text/plain"]).splitlines()[1].split() == ["1", "a", "1.5", "2024-01-02"]
    assert "<td>&lt;b&gt;</td>" in str(shown.data["text/html"])
    first, second = result.tables
    assert [(c.name, c.type.value) for c in first.columns] == [
        ("name", "string"), ("value", "number"), ("day", "date"),
    ]  # fmt: skip
    assert list(first.head) == [("a", 1.5, "2024-01-02"), ("<b>", None, None)]
    assert list(second.head) == [(1, 3), (2, 4)]


def test_tables_of_all_sizes(run: Any) -> None:
    result = run("""
data.frame()
data.frame(x = integer())
data.frame(n = 1:1000)
mtcars[1:2, 1:2]
as.data.frame(matrix(0, 2, 80))
""")

    shapes = [table.shape for table in result.tables]
    assert shapes[-3:] == [(1000, 1), (2, 2), (2, 80)]
    long, cars = result.tables[-3:-1]
    assert (long.head[0], long.tail[-1]) == ((1,), (1000,))
    assert cars.head[0] == ("Mazda RX4", 21, 6)
    assert [column.role.value for column in cars.columns] == ["index", "value", "value"]


def test_tables_of_packages(run: Any, needs: Any) -> None:
    needs("tibble")

    (table,) = run('tibble::tibble(a = 1:2, b = list(1, "x"))').tables

    assert (table.library, table.shape) == ("tibble", (2, 2))


def test_warnings(run: Any) -> None:
    """Warnings are printed when the expression has ended, in R's words."""
    result = run("""
f <- function(x) { warning("careful"); cat("printed first\\n"); log(x) }
y <- f(-1)
z <- as.integer("a")
""")

    assert result.stdout == "printed first\n"
    assert result.stderr == (
        "Warning messages:\n1: In f(-1) : careful\n2: In log(x) : NaNs produced\n"
        "Warning message:\nNAs introduced by coercion \n"
    )
    assert run("for (i in 1:60) warning(i)").stderr == (
        "There were 50 or more warnings (use warnings() to see the first 50)\n"
    )
    assert run("length(warnings())").value == "[1] 50"


@pytest.mark.parametrize(
    ("level", "stdout", "stderr", "name"),
    [(-1, "on\n", "", None), (1, "on\n", "Warning: now\n", None), (2, "", None, "Error")],
)
def test_levels_of_warnings(
    run: Any, level: int, stdout: str, stderr: str | None, name: str | None
) -> None:
    result = run(f'options(warn = {level}); warning("now"); cat("on\\n")')
    run("options(warn = 0)")

    assert result.stdout == stdout
    assert stderr is None or result.stderr == stderr
    assert (result.error and result.error.name) == name


@pytest.mark.parametrize(
    ("code", "name", "value", "line", "functions"),
    [
        ("x <- 1\nstop('bad')", "Error", "bad", 2, [""]),
        ("f <- function(n) {\n  n\n  stop('in f')\n}\n\nf(1)", "Error", "in f", 3, ["", "f"]),
        ("f <- function() g()\ng <- function() {\n  log('a')\n}\nf()",
         "Error", "non-numeric argument to mathematical function", 3, ["", "f", "g"]),
        ("for (i in 1:3) {\n  i\n  stop('loop')\n}", "Error", "loop", 3, [""]),
        ("r <- lapply(1:2, function(i) {\n  i\n  stop('each')\n})",
         "Error", "each", 3, ["", "lapply", "FUN"]),
        ("a <- 1\nmissing_one", "Error", "object 'missing_one' not found", 2, None),
        ("library(there.is.no.such)", "packageNotFoundError",
         "there is no package called \u2018there.is.no.such\u2019", 1, None),
        ("stop(structure(class = c('mine', 'error', 'condition'), list(message = 'm', call = 1)))",
         "mine", "m", 1, None),
        ("stop(structure(class = c('silent', 'error', 'condition'), list()))",
         "silent", "", 1, None),
        ("f <- function(n) f(n + 1)\nf(1)", "CStackOverflowError", None, 2, None),
        ("invokeRestart('abort')", "abort", "the evaluation was aborted", 1, None),
    ],
)  # fmt: skip
def test_errors(
    run: Any, code: str, name: str, value: str | None, line: int, functions: list[str] | None
) -> None:
    """Errors have R's words, the user's line, and no call that is not the user's."""
    result = run(code)

    assert result.exit_code == 1
    assert (result.error.name, result.error.line) == (name, line)
    assert value is None or result.error.value == value
    if functions is not None:
        assert [frame.function for frame in result.error.frames] == functions
    for word in ("shim", "eval(", "withCallingHandlers", "one_by_one"):
        assert word not in result.stderr
    assert run("cat('alive')").stdout == "alive"


def test_error_text(run: Any) -> None:
    result = run(
        "outer_one <- function(x) {\n  inner_one(x)\n}\n"
        "inner_one <- function(y) stop('no: ', y)\nouter_one(5)"
    )

    lines = result.stderr.splitlines()
    assert lines[:2] == ["Error in inner_one(x) : no: 5", "Traceback:"]
    assert [line.split("   #")[0] for line in lines[2:4]] == ["1. outer_one(5)", "2. inner_one(x)"]
    assert lines[4].endswith(":4: inner_one <- function(y) stop('no: ', y)")


@pytest.mark.parametrize(
    ("code", "line", "column", "value"),
    [
        ("x <- 1\ny <- ]", 2, 6, "unexpected ']'"),
        ("x <- 1\nf <- function() {\n", 2, 18, "unexpected end of input"),
        ("é <- 5 5", 1, 8, "unexpected numeric constant"),
        ("x <- 'open", 1, 6, "unexpected INCOMPLETE_STRING"),
    ],
)
def test_syntax_errors(run: Any, code: str, line: int, column: int, value: str) -> None:
    """Nothing of code that does not parse is run."""
    result = run(f"{code}")

    error = result.error
    assert (error.kind, error.line, error.column, error.value) == ("syntax", line, column, value)
    assert result.stderr.startswith("Error: ")


def test_what_is_only_signalled_goes_on(run: Any) -> None:
    result = run("""
signalCondition(simpleError("nobody takes it"))
signalCondition(simpleWarning("nor this"))
withCallingHandlers(stop(simpleError("x")), error = function(e) cat("seen\\n"))
""")

    assert (result.stdout, result.error.value) == ("NULL\nNULL\nseen\n", "x")


def test_the_frame_around_the_code_is_the_workspace(run: Any) -> None:
    assert run("identical(parent.frame(), globalenv())").value == "[1] TRUE"
    assert run("assign('made', 1, envir = parent.frame()); made").value == "[1] 1"


def test_cells_that_are_no_text(run: Any) -> None:
    result = run('data.frame(a = "bad\\xff", b = "ok")')

    (table,) = result.tables
    assert list(table.head) == [("bad<ff>", "ok")]


def test_exit_keeps_state(session: BaseSession) -> None:
    session.run("kept <- 1", timeout=RUN_S)

    result = session.run(
        "tryCatch(q(status = 3), finally = cat('bye\\n')); cat('no')", timeout=RUN_S
    )

    assert (result.exit_code, result.stdout, result.status.value) == (3, "bye\n", "exited")
    assert session.run("cat(kept)", timeout=RUN_S).stdout == "1"


def test_a_copy_of_the_process_is_not_heard(run: Any) -> None:
    """What the code forks may end as it likes."""
    result = run("""
job <- parallel::mcparallel(quit(status = 5))
found <- suppressWarnings(parallel::mccollect(job))
cat("here\\n")
""")

    assert (result.stdout, result.exit_code) == ("here\n", 0)


@pytest.mark.parametrize(
    ("code", "stdout"),
    [
        ("cat(readLines('stdin'), sep = '|')", "a|b 1|c"),
        ("cat(readline('? '), readline())", "? a b 1"),
        ("x <- readLines(stdin(), 1); cat(x, readLines(stdin()))", "a b 1 c"),
        ("x <- file('stdin', 'r'); cat(readLines(x, 2)); close(x)", "a b 1"),
        ("cat(scan(what = '', quiet = TRUE))", "a b 1 c"),
        ("cat(scan(file('stdin'), what = '', quiet = TRUE))", "a b 1 c"),
        ("x <- read.table(stdin(), fill = TRUE); cat(dim(x))", "2 1"),
        ("cat('none read')", "none read"),
    ],
)
def test_input(run: Any, code: str, stdout: str) -> None:
    """Input is read in all of R's ways, and the next run's begins anew."""
    for _ in range(2):
        result = run(code, stdin="a\nb 1\nc\n")
        assert (result.stdout.strip(), result.stderr) == (stdout, "")
    assert run("cat(length(readLines('stdin')), nchar(readline()))").stdout == "0 0"


def test_children_get_none_of_our_channels(run: Any) -> None:
    result = run('system("ls -l /proc/self/fd | grep -c pipe:")')

    assert result.stdout.split() == ["3"]


def test_connections_of_ours_stay(run: Any) -> None:
    run("closeAllConnections(); rm(list = ls(all.names = TRUE))")

    assert run("length(ls(all.names = TRUE))").value == "[1] 0"


def test_sinks(run: Any) -> None:
    """Output that the code has sent elsewhere goes there."""
    run('sink("out.txt"); print("x")\n5')
    result = run("sink(); found <- readLines('out.txt'); unlink('out.txt'); found")

    assert result.value == '[1] "[1] \\"x\\"" "[1] 5"    '


def test_main_guards(run: Any) -> None:
    code = "main <- function() cat(sys.nframe())\nif (sys.nframe() == 0) main()"

    assert int(run(code).stdout) > 0


@pytest.mark.parametrize(
    "code",
    [
        "while (TRUE) {}",
        "Sys.sleep(60)",
        "repeat tryCatch(Sys.sleep(60), error = function(e) NULL)",
        "f <- function() { on.exit(cat('cleaned\\n')); repeat sqrt(2) }\nf()",
        "print.endless <- function(x, ...) repeat 1; structure(1, class = 'endless')",
    ],
)
def test_interrupts(session: BaseSession, code: str) -> None:
    """Code that does not end is interrupted, and what it had made is still there."""
    session.run("kept <- 7", timeout=RUN_S)

    with pytest.raises(SandboxTimeoutError) as caught:
        session.run(code, timeout=1)

    result: Any = caught.value.result
    assert result.state.value == "kept"
    assert session.run("kept", timeout=RUN_S).value == "[1] 7"
    assert session.run("Sys.sleep(0.5); cat('whole')", timeout=RUN_S).stdout == "whole"


@pytest.fixture(scope="module")
def programs() -> Iterator[BaseSession]:
    """A session whose runs are whole programs."""
    with SandboxSession(lang="r", backend="bubblewrap", persistent=False) as session:
        yield session


def test_errors_of_programs(programs: BaseSession) -> None:
    """A whole program's error is told as R tells it, with the line."""
    code = "f <- function(n) {\n  n\n  stop('bad ', n)\n}\ncat('a\\n')\nf(3)\ncat('not reached')"

    result: Any = programs.run(code, timeout=RUN_S)

    assert (result.stdout, result.exit_code) == ("a\n", 1)
    assert (result.error.name, result.error.value, result.error.line) == ("Error", "bad 3", 3)
    assert result.stderr == (
        "Error in f(3) : bad 3\nTraceback:\n1. f(3)   # main.R:6\n"
        "At main.R:3: stop('bad ', n)\nExecution halted\n"
    )
    for code, line in (("x <- 1\ny <- x + zz", 2), ("for (i in 1:2) {\n  i\n  log('a')\n}", 3)):
        failed: Any = programs.run(code, timeout=RUN_S)
        assert (failed.error.line, failed.exit_code) == (line, 1)


def test_programs_that_do_not_parse(programs: BaseSession) -> None:
    """What stands before the mistake runs, as it does in R."""
    result: Any = programs.run("cat('first\\n')\ny <- ]", timeout=RUN_S)

    assert (result.error.kind, result.error.value) == ("syntax", "unexpected ']' in \"y <- ]\"")
    assert (result.stdout, result.exit_code) == ("first\n", 1)


@pytest.mark.parametrize(
    ("code", "stdout", "stderr", "exit_code"),
    [
        ("1\nx <- 2\ninvisible(3)\nx", "[1] 1\n[1] 2\n", "", 0),
        ("print.mine <- function(x, ...) cat('MINE\\n')\nstructure(1, class = 'mine')",
         "MINE\n", "", 0),
        ("warning('w')\ncat('on\\n')", "on\n", "Warning message:\nw \n", 0),
        ("cat(sys.nframe(), length(ls(all.names = TRUE)))", "0 0", "", 0),
        ("cat(basename(sub('--file=', '', grep('--file=', commandArgs(), value = TRUE))))",
         "main.R", "", 0),
        ("quit(status = 4)", "", "", 4),
        (".Last <- function() cat('last\\n')", "last\n", "", 0),
        ("options(error = quote({cat('mine\\n'); q(status = 9)}))\nstop('x')",
         "mine\n", "Error: x\nAt main.R:2: stop('x')\n", 9),
        ("tryCatch(stop('x'), error = function(e) cat('caught\\n'))", "caught\n", "", 0),
        ("system('Rscript -e \"cat(1)\"')", "1", "", 0),
    ],
)  # fmt: skip
def test_programs(
    programs: BaseSession, code: str, stdout: str, stderr: str, exit_code: int
) -> None:
    result = programs.run(code, timeout=RUN_S)

    assert (result.stdout, result.stderr, result.exit_code) == (stdout, stderr, exit_code)
    assert result.files == ()
