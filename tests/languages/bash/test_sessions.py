"""Bash in sessions: what a shell keeps, how it ends, what it is told and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.exceptions import ValidationError
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
def shared() -> Iterator[BaseSession]:
    usable_backend("bubblewrap")
    session = Sessions.open("bash")
    yield session
    session.close()


@pytest.fixture
def session(shared: BaseSession) -> BaseSession:
    """A session with a fresh shell."""
    shared.restart()
    return shared


def run(session: BaseSession, code: str, **options: str) -> ExecutionResult:
    return session.run(code, timeout=RUN_S, **options)


def test_everything_of_a_shell_is_kept(session: BaseSession) -> None:
    run(
        session,
        """
        mkdir -p sub && cd sub
        text=$'one\\ntwo' number=5
        declare -A map=([a b]=1 [c]=2)
        list=(x "y z")
        declare -r fixed=7
        export SHOWN=yes
        greet() { echo "hello $1"; }
        alias hi='greet alias'
        shopt -s extglob nullglob
        set -f
        umask 027
        """,
    )
    result = run(
        session,
        """
        echo "${PWD##*/} $number ${map[a b]}${map[c]} ${#list[@]} $fixed $(umask) $-"
        echo "$text"
        hi
        bash -c 'echo $SHOWN'
        shopt -q extglob && [[ aab == +(a)b ]] && echo extended
        """,
    )

    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].startswith("sub 5 12 2 7 0027 ")
    assert "f" in lines[0].split()[-1]
    assert lines[1:] == ["one", "two", "hello alias", "yes", "extended"]


def test_code_is_at_the_top_of_a_script(session: BaseSession) -> None:
    result = run(
        session,
        """echo "$0 ${#FUNCNAME[@]} $# $LINENO"
local no=1 || echo "not in a function"
where() { echo "${BASH_SOURCE[0]} $LINENO"; }
where""",
    )

    assert result.stdout == "main.sh 0 0 1\nnot in a function\nmain.sh 3\n"
    assert result.stderr == "main.sh: line 2: local: can only be used in a function\n"


def test_nothing_of_ours_is_passed_on(session: BaseSession) -> None:
    """Programs get three streams, and no variables but those of the session."""
    result = run(session, "ls /proc/self/fd | wc -l; env | grep -ci llm_ ; compgen -e | grep __")

    assert result.stdout == "4\n0\n"


@pytest.mark.parametrize(
    ("code", "exit_code", "line"),
    [
        ("false", 1, 1),
        ("true\n(exit 42)", 42, 2),
        ("echo a\nno_such_program --x", 127, 2),
        ("f() { return 9; }\n\nf", 9, 3),
        ("false\n! true", 1, None),
        ("cat <<X | grep -q y\nx\nX", 1, 1),
        (": one\n[[ a == b ]]\n# end", 1, 2),
    ],
)
def test_status_of_the_last_command(
    session: BaseSession, code: str, exit_code: int, line: int | None
) -> None:
    result = run(session, code)

    assert (result.status, result.exit_code) == (RunStatus.ERROR, exit_code)
    assert result.error is not None
    assert result.error.name == "ExitStatus"
    assert result.error.value.endswith(f"exit status {exit_code}")
    if line is not None:
        assert result.error.line == line
    assert (result.state, run(session, "false; true").exit_code) == (StateOutcome.KEPT, 0)


@pytest.mark.parametrize(
    ("code", "printed", "line", "words"),
    [
        ("echo a\nif true; then\n  echo )\nfi", "a\n", 3, "unexpected token"),
        ("echo a\necho 'b", "a\n", 2, "unexpected EOF"),
        ("for x in 1; do\necho $x\n", "", 3, "unexpected end of file"),
    ],
)
def test_syntax_errors(
    session: BaseSession, code: str, printed: str, line: int, words: str
) -> None:
    result = run(session, code)

    assert (result.status, result.stdout) == (RunStatus.ERROR, printed)
    assert result.error is not None
    assert (result.error.kind, result.error.line) == ("syntax", line)
    assert words in result.error.value
    assert words in result.stderr
    assert "/" not in result.stderr


def test_exit_keeps_the_shell(session: BaseSession) -> None:
    """Also from within functions, loops and redirections; what was local is gone."""
    run(session, "name=global; leave() { local name=local own=1; for i in 1; do exit 7; done; }")
    result = run(session, "cd /; { echo lost; leave; } >/dev/null 2>&1")
    assert (result.status, result.exit_code) == (RunStatus.EXITED, 7)
    assert (result.stdout, result.state) == ("", StateOutcome.KEPT)

    after = run(session, 'echo "$name ${own-unset} $PWD"; echo err >&2; leave')
    assert (after.stdout, after.stderr) == ("global unset /\n", "err\n")
    assert after.exit_code == 7


def test_exit_keeps_variables_of_any_name(session: BaseSession) -> None:
    """Values of any text, also those called as a shim could call its own, and many of them."""
    run(session, "state=s ending=e text=t status=u value=v fd=f size=z flag=g words=w line=l")
    run(
        session,
        "odd=$'a\\n\\'\"$\\t\\1é'; list=({1..30000}); empty=() unset_one=; declare -i sum=3",
    )
    run(session, "exit 1")
    code = "echo $state$ending$text$status$value$fd$size$flag$words$line\n"
    code += "sum+=4; echo $sum ${#list[@]}"
    assert run(session, code).stdout == "setuvfzgwl\n7 30000\n"
    result = run(session, "[[ $odd == $'a\\n\\'\"$\\t\\1é' ]] && declare -p empty")
    assert result.stdout == "declare -a empty=()\n"


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("exit", 0),
        ("false; exit", 1),
        ("exit 256", 0),
        ("exit 300", 44),
        ("true | exit 5; exit 6", 6),
        ("(exit 3); exit 4", 4),
        ("x=$(exit 9); exit", 9),
        ("[[ -e /nothing ]] || exit 3", 3),
    ],
)
def test_exit_codes(session: BaseSession, code: str, exit_code: int) -> None:
    result = run(session, code)

    assert (result.status, result.exit_code) == (RunStatus.EXITED, exit_code)


def test_errexit_ends_the_run_and_not_the_shell(session: BaseSession) -> None:
    """The options stay on, as they do in a shell."""
    result = run(session, "set -euo pipefail\nkept=1\nfalse | true\necho never")
    assert (result.status, result.exit_code, result.stdout) == (RunStatus.ERROR, 1, "")
    assert result.error is not None
    assert result.error.line == 3

    result = run(session, 'echo "$kept"; echo "$missing"; echo never')
    assert (result.status, result.exit_code, result.stdout) == (RunStatus.ERROR, 1, "1\n")
    assert result.stderr == "main.sh: line 1: missing: unbound variable\n"
    result = run(session, "deep() { false; echo never; }; deep")
    assert (result.exit_code, result.stdout) == (1, "")
    result = run(session, "false || echo handled; set +eu; false; echo $kept")
    assert (result.exit_code, result.stdout) == (0, "handled\n1\n")


def test_traces_show_the_code_only(session: BaseSession) -> None:
    run(session, "set -x")
    result = run(session, "name=x\necho $name")
    again = run(session, "exit 3")

    assert result.stderr == "++ name=x\n++ echo x\n"
    assert again.stderr == "++ exit 3\n"
    assert run(session, "set +x; true").stderr == "++ set +x\n"
    assert run(session, "true").stderr == ""


def test_traps_of_the_code(session: BaseSession) -> None:
    result = run(session, "trap 'echo usr1' USR1; trap 'echo err' ERR; kill -USR1 $$; false; true")
    assert result.stdout == "usr1\nerr\n"
    assert run(session, "exit 2").exit_code == 2
    assert run(session, "kill -USR1 $$; false; true").stdout == "usr1\nerr\n"


def test_an_exit_trap_of_the_code_ends_the_shell(session: BaseSession) -> None:
    result = run(session, "x=1; trap 'echo \"bye $?\"' EXIT; echo on; exit 5")

    assert (result.stdout, result.exit_code) == ("on\nbye 5\n", 5)
    assert (result.status, result.state) == (RunStatus.EXITED, StateOutcome.RESET)
    assert run(session, "echo ${x-unset}").stdout == "unset\n"


@pytest.mark.parametrize(
    "code",
    [
        "work() { local kept=2; while :; do while :; do :; done; done; }; work",
        "sleep 100",
        "x=$(sleep 100); echo never",
        "(while :; do :; done); echo never",
        "sleep 100 | cat; echo never",
        "while sleep 0.01; do :; done >/dev/null",
        "trap 'echo own' EXIT; for ((i = 0; i < 10 ** 12; i++)); do ((i % 2)) || :; done",
        "set -e; sleep 100 & wait; echo never",
    ],
)
def test_interrupts(session: BaseSession, code: str) -> None:
    """Builtins, functions, loops, programs, subshells and pipelines; the shell goes on."""
    for timeout in (0.5, 2, 8):
        # On a busy machine the shell may have had no turn before it was given up.
        run(session, "kept=1")
        result = timed_out(session, code, timeout)
        if result.state is StateOutcome.KEPT:
            break

    assert (result.status, result.stdout) == (RunStatus.TIMEOUT, "")
    assert result.error is not None
    assert (result.error.name, result.state) == ("Interrupt", StateOutcome.KEPT)
    after = run(session, 'echo "$kept"; echo err >&2')
    assert (after.stdout, after.stderr) == ("1\n", "err\n")


def test_code_that_ignores_interrupts(session: BaseSession) -> None:
    result = timed_out(session, "trap '' INT; while :; do :; done", 0.5)

    assert (result.status, result.state) == (RunStatus.TIMEOUT, StateOutcome.RESET)
    assert run(session, "echo on").stdout == "on\n"


def test_background_jobs(session: BaseSession) -> None:
    run(session, "(read -r _ <start; echo done >finished; exit 3) & job=$!; mkfifo start")
    run(session, "mkfifo start 2>/dev/null; (read -r _ <start; exit 3) & job=$!")
    result = run(session, "jobs -p | wc -l; echo >start; wait $job; echo $?; rm start")

    assert result.stdout.splitlines()[-1] == "3"


def test_streams_of_its_own(session: BaseSession) -> None:
    """Descriptors that the code opens stay open, and it may put its output elsewhere."""
    run(session, "printf 'a\\nb\\n' >lines; exec 3<lines 4>log; read -r -u 3 first")
    result = run(session, "read -r -u 3 second; echo $first$second; echo noted >&4; cat log")
    assert result.stdout == "ab\nnoted\n"

    run(session, "exec 3<&- 4>&- 5>&1 >elsewhere; echo quiet")
    assert run(session, "echo quiet; exec >&5 5>&-; cat elsewhere").stdout == "quiet\nquiet\n"
    assert run(session, "echo x >/dev/stderr; echo y >/dev/stdout").stderr == "x\n"


def test_here_documents(session: BaseSession) -> None:
    code = "name=x\ncat <<A; cat <<'B'\n$name\nA\n$name\nB\ncat <<-C\n\t$name\\\n\tC\nC\n"
    assert run(session, code).stdout == "x\n$name\nx\tC\n"

    result = run(session, "cat <<NEVER\nopen")
    assert result.stdout == "open\n"
    assert "here-document" in result.stderr


@pytest.mark.parametrize(
    "code", ["echo a \\", "# only a comment", "", "\n\n", "echo a; :;", "&& a"]
)
def test_odd_ends_of_code(session: BaseSession, code: str) -> None:
    """Whatever the code ends with, it touches nothing of ours."""
    run(session, code)

    assert run(session, "echo on").stdout == "on\n"


def test_input_is_read_by_whoever_wants_it(session: BaseSession) -> None:
    code = 'read -r first; rest=$(cat); echo "$first|$rest"'
    assert run(session, code, stdin="one\ntwo\nthree\n").stdout == "one|two\nthree\n"
    assert run(session, code).stdout == "|\n"
    assert run(session, "head -n 1", stdin="one\ntwo\n").stdout == "one\n"
    result = run(session, "while read -r line; do echo [$line]; done", stdin="é\n\nlast")
    assert result.stdout == "[é]\n[]\n[last]\n"


def test_nul_is_refused(session: BaseSession) -> None:
    for code in ("echo a\0b", "\0"):
        with pytest.raises(ValidationError, match="NUL"):
            run(session, code)


def test_other_locales(session: BaseSession) -> None:
    """Text is text, whatever the code says of characters."""
    run(session, "export LC_ALL=C")
    assert run(session, "echo 'é日'; x='é'; echo ${#x}").stdout == "é日\n2\n"
    run(session, "export LC_ALL=C.UTF-8")
    assert run(session, "x='é日'; echo ${#x}; exit 3").stdout == "2\n"
    assert run(session, "echo ${#x}").stdout == "2\n"


def test_large_code(session: BaseSession) -> None:
    code = "x='" + "é" * 200_000 + "'\necho ${#x}\nfalse"
    result = run(session, code)

    assert (result.stdout, result.exit_code) == ("200000\n", 1)
    assert result.error is not None
    assert result.error.line == 3


def test_nothing_is_left_in_the_folder_for_temporary_files(session: BaseSession) -> None:
    run(session, "exit 3")
    run(session, "exit 4")

    assert run(session, "ls -A /tmp | grep bash").stdout == ""


def test_whole_program() -> None:
    usable_backend("bubblewrap")
    with Sessions.open("bash", persistent=False) as session:
        result = run(session, "echo $PWD; trap 'echo bye' EXIT\nno_such_program\nexit 3")
        assert (result.stdout, result.exit_code) == (f"{session.sandbox.workdir}\nbye\n", 3)
        assert result.error is not None
        assert (result.error.name, result.error.line) == ("BashError", 2)
        assert result.error.value == "no_such_program: command not found"
        assert result.stderr == "main.sh: line 2: no_such_program: command not found\n"

        result = run(session, "if true; then\necho )\nfi")
        assert result.error is not None
        assert (result.error.kind, result.error.line) == ("syntax", 2)
        result = run(session, "# head\nf() {\n  missing; }\necho $# $0 ${OLDPWD-none}\nf; exit 0")
        assert (result.stdout, result.exit_code) == ("0 main.sh none\n", 0)
        assert result.stderr == "main.sh: line 3: missing: command not found\n"
        with pytest.raises(ValidationError, match="NUL"):
            run(session, "echo a\0b")
