"""The awaitable classes are the synchronous ones: same names, same signatures, same behaviour."""

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox import PIPE, Process, Sandbox, SandboxError, aio, get_security_policy
from llm_sandbox.pool import SandboxPool
from llm_sandbox.sandbox.files import SandboxFiles
from llm_sandbox.sandbox.streams import InputStream, OutputStream
from llm_sandbox.session.session import BaseSession

PAIRS = [
    (BaseSession, aio.AsyncSession),
    (Sandbox, aio.AsyncSandbox),
    (Process, aio.AsyncProcess),
    (SandboxFiles, aio.AsyncFiles),
    (OutputStream, aio.AsyncOutputStream),
    (InputStream, aio.AsyncInputStream),
    (SandboxPool, aio.AsyncSandboxPool),
]
TWIN_OF_WORD = {plain.__name__: twin.__name__ for plain, twin in PAIRS} | {
    "ArtifactSandboxSession": "AsyncSession",
    "Iterator": "AsyncIterator",
    "StreamCallback": "StreamListener",
    "OutputCallback": "OutputListener",
}
TWIN_OF_METHOD = {"__enter__": "__aenter__", "__exit__": "__aexit__", "__iter__": "__aiter__"}
SET_BY_INIT = {BaseSession: {"config", "language_handler", "backend_reason"}, Process: {"id"}}

each_pair = pytest.mark.parametrize(
    ("plain", "twin"), PAIRS, ids=[plain.__name__ for plain, _ in PAIRS]
)

# --- names and signatures


def attributes(cls: type) -> set[str]:
    """All that a class has of itself and of its bases in this library."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("llm_sandbox.")]
    return {name for base in ours for name in (*vars(base), *vars(base).get("__annotations__", {}))}


def names(cls: type) -> set[str]:
    found = attributes(cls) | SET_BY_INIT.get(cls, set())
    return {name for name in found if not name.startswith("_")}


def methods(cls: type) -> list[str]:
    special = [name for name in TWIN_OF_METHOD if name in attributes(cls)]
    return [*special, *sorted(name for name in names(cls) if callable(getattr(cls, name, None)))]


def signature(function: Callable[..., Any]) -> list[tuple[str, object, object]]:
    parameters = inspect.signature(function).parameters.values()
    return [(one.name, one.kind, one.default) for one in parameters]


def annotations(function: Callable[..., Any]) -> dict[str, str]:
    """Annotations as their author wrote them: an alias keeps its name."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    arguments += [one for one in (node.args.vararg, node.args.kwarg) if one is not None]
    written = {one.arg: one.annotation for one in arguments} | {"return": node.returns}
    return {name: ast.unparse(note).strip("'\"") for name, note in written.items() if note}


def as_twin(annotation: str) -> str:
    return re.sub(r"\b\w+\b", lambda word: TWIN_OF_WORD.get(word[0], word[0]), annotation)


@each_pair
def test_the_public_names_are_the_same(plain: type, twin: type) -> None:
    assert names(plain) == names(twin)


@each_pair
def test_methods_are_awaited_and_properties_are_not(plain: type, twin: type) -> None:
    for name in names(plain):
        if name in methods(plain):
            function = getattr(twin, name)
            awaited = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
            assert awaited, name
        else:
            assert isinstance(inspect.getattr_static(twin, name), property), name


@each_pair
def test_signatures_are_the_same(plain: type, twin: type) -> None:
    """Parameters, kinds, defaults and annotations are equal, but for the twins among the types."""
    assert methods(plain)
    for name in methods(plain):
        one, other = getattr(plain, name), getattr(twin, TWIN_OF_METHOD.get(name, name))
        if name == "__exit__":  # the names and types that Python gives do not matter
            continue
        assert signature(one) == signature(other), name
        expected = {key: as_twin(note) for key, note in annotations(one).items()}
        assert expected == annotations(other), name


# --- behaviour

CASES: dict[str, Callable[[Any, Path], object]] = {}
Case = Callable[[Any, Path], object]


def case(function: Case) -> Case:
    """Add a function to the table: it gets an open session of either face, and an empty folder."""
    CASES[function.__name__] = function
    return function


@case
def a_value(session: Any, _: Path) -> object:
    return session.run("x = 20\nprint('shown')\nx + 1"), session.run("x")


@case
def a_program_that_fails(session: Any, _: Path) -> object:
    failed = session.run("print('before')\n1 / 0")
    return failed, failed.error, session.run("import sys; sys.exit(3)")


@case
def a_death(session: Any, _: Path) -> object:
    return session.run("import os; os.kill(os.getpid(), 9)"), session.run("1")


@case
def a_display(session: Any, _: Path) -> object:
    return session.run("display('seen')").outputs


@case
def a_timeout(session: Any, _: Path) -> object:
    with pytest.raises(SandboxError) as caught:
        session.run("print('kept', flush=True)\nwhile True: pass", timeout=0.3)
    error: Any = caught.value
    return type(error), error.code, str(error), error.timeout_duration, error.result.stdout


@case
def callbacks(session: Any, _: Path) -> object:
    heard: list[object] = []
    session.run(
        "import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr)",
        on_stdout=heard.append,
        on_stderr=heard.append,
        on_output=lambda output: heard.append(type(output)),
    )
    return heard


@case
def a_callback_that_fails(session: Any, _: Path) -> object:
    def fail(_: str) -> None:
        raise RuntimeError("the callback's own")

    with pytest.raises(RuntimeError) as caught:
        session.run("print(1)", on_stdout=fail)
    return str(caught.value), session.run("1")


@case
def input_lines(session: Any, _: Path) -> object:
    given = session.run("print(input(), input())", stdin=iter(["a\n", "b"]))
    return given, session.run("input()")


@case
def refusals(session: Any, _: Path) -> object:
    seen = []
    for refused in (
        lambda: session.run(b"1"),
        lambda: session.run("1", timeout=-1),
        lambda: session.run("1", stdin=3),
        lambda: session.install(["-r x"]),
        lambda: session.execute_command(" "),
        lambda: session.execute_commands([]),
        lambda: session.execute_command(["/missing"]),
        session.sandbox.exec,
        lambda: session.sandbox.exec("true", user="root"),
        lambda: session.sandbox.check("sh", "-c", "echo bad; exit 4"),
        lambda: session.sandbox.files.read_text("missing"),
        lambda: session.sandbox.files.resolve("\0"),
        lambda: session.copy_to_runtime("/missing", "x"),
        lambda: session.sandbox.exec("true").collect(-1),
        lambda: session.sandbox.exec("true").wait(timeout=0),
        lambda: session.sandbox.exec("true").signal(99),
    ):
        with pytest.raises((SandboxError, OSError)) as caught:
            refused()
        seen.append((type(caught.value), str(caught.value)))
    return seen


@case
def restart(session: Any, _: Path) -> object:
    session.run("gone = 1")
    session.restart()
    return session.run("'gone' in globals()")


@case
def commands(session: Any, _: Path) -> object:
    heard: list[str] = []
    return (
        session.execute_command("echo $0; exit 3"),
        session.execute_command(["pwd"], workdir="/tmp", on_stdout=heard.append),
        session.execute_commands(["echo 1", ("pwd", "/tmp"), "exit 5", "echo never"]),
        heard,
    )


@case
def a_command_that_takes_too_long(session: Any, _: Path) -> object:
    with pytest.raises(SandboxError) as caught:
        session.execute_command("echo kept; sleep 60", timeout=0.3)
    error: Any = caught.value
    return type(error), str(error), error.result.stdout


@case
def files(session: Any, folder: Path) -> object:
    inside = session.sandbox.files
    inside.write_text("deep/one.txt", "text")
    inside.write_bytes("deep/one.txt", b"\xff", append=True)
    inside.mkdir("empty")
    (folder / "up.txt").write_text("from here")
    session.copy_to_runtime(folder / "up.txt", "up.txt")
    session.copy_from_runtime("deep", folder / "down")
    inside.upload(folder / "up.txt", "again.txt")
    report = inside.download("up.txt", folder / "again.txt")
    inside.remove("empty")
    found = [(entry.name, entry.kind, entry.size) for entry in inside.list()]
    facts = session.get_archive("up.txt")[1]
    return (
        inside.read_bytes("deep/one.txt"),
        inside.read_text("deep/one.txt"),
        inside.exists("empty"),
        inside.stat("up.txt").size,
        inside.resolve("x"),
        len(inside.archive("deep")),
        (folder / "down" / "one.txt").read_bytes(),
        (folder / "again.txt").read_text(),
        report,
        found,
        facts,
    )


@case
def processes(session: Any, _: Path) -> object:
    sandbox = session.sandbox
    sandbox.update_env({"ADDED": "yes"})
    process = sandbox.sh("echo $ADDED; printf 'a\\nb\\n\\nc'; echo no >&2; exit 7")
    return (
        process.wait(),
        process.poll(),
        process.returncode,
        process.command,
        list(process.stdout.lines()),
        "".join(process.stdout),
        process.stdout.read(),
        process.stderr.bytes(),
        process.stdout.truncated,
        process.collect(4, keep="both"),
        process.kill(),
        process.signal(15),
        process.stdin,
        sandbox.check("echo", "fine"),
    )


@case
def a_process_that_goes_on(session: Any, _: Path) -> object:
    process = session.sandbox.exec("sleep", "60")
    seen = []
    for ask in (process.wait, process.collect):
        with pytest.raises(SandboxError) as caught:
            ask(timeout=0.1)
        seen.append(str(caught.value))
    return process.poll(), seen, process.kill(), process.wait(), process.collect()


@case
def standard_input(session: Any, _: Path) -> object:
    process = session.sandbox.exec("cat", stdin=PIPE)
    process.stdin.write("one\n")
    process.stdin.drain()
    process.stdin.write(b"two")
    process.stdin.write_eof()
    with pytest.raises(SandboxError) as caught:
        process.stdin.write("late")
    return process.collect(), str(caught.value)


@case
def input_that_nobody_reads(session: Any, _: Path) -> object:
    process = session.sandbox.exec("sleep", "60", stdin=PIPE)
    process.stdin.write(bytes(1 << 20))
    with pytest.raises(SandboxError) as caught:
        process.stdin.drain(timeout=0.1)
    process.kill()
    with pytest.raises(BrokenPipeError):
        process.stdin.drain()
    return str(caught.value)


@case
def facts(session: Any, _: Path) -> object:
    sandbox = session.sandbox
    return (
        session.is_open,
        session.backend,
        session.config,
        session.isolation,
        sandbox.limits,
        sandbox.workdir,
        sandbox.backend,
        sandbox.end_reason,
        sandbox.poll(),
        session.is_safe("import os"),
        session.interrupt(),
    )


@case
def the_end(session: Any, _: Path) -> object:
    sandbox = session.sandbox
    session.close()
    session.close()
    seen = []
    for refused in (
        lambda: session.run("1"),
        session.restart,
        lambda: session.sandbox,
        lambda: sandbox.exec("true"),
    ):
        with pytest.raises(SandboxError) as caught:
            refused()
        seen.append((type(caught.value), str(caught.value)))
    ended = session.is_open, sandbox.poll(), seen
    session.open()
    return ended, session.is_open


def comparable(value: object) -> object:
    """What must be equal: everything but measured times and the ids of processes."""
    if isinstance(value, list | tuple):
        return [comparable(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        measured = ("usage", "duration_s", "cpu_s", "peak_memory_bytes")
        return type(value), {k: comparable(v) for k, v in fields.items() if k not in measured}
    return value


Faces = tuple[Callable[[], AbstractContextManager[Any]], Callable[[], AbstractContextManager[Any]]]


@pytest.mark.parametrize("name", sorted(CASES))
def test_both_faces_do_the_same(name: str, faces: Faces, tmp_path: Path) -> None:
    outcomes = []
    for number, face in enumerate(faces):
        folder = tmp_path / str(number)
        folder.mkdir()
        with face() as make, make("bubblewrap") as session:
            outcomes.append(comparable(CASES[name](session, folder)))

    assert outcomes[0] == outcomes[1]


def test_both_faces_refuse_the_same(faces: Faces) -> None:
    """Arguments that are refused, code that a policy refuses, and a session that is not open."""
    outcomes = []
    for face in faces:
        seen = []
        with face() as make:
            for options in ({"backend": "none"}, {"image": "x"}, {"workdir": "etc"}, {"lang": "x"}):
                with pytest.raises(SandboxError) as caught:
                    make(**{"backend": "bubblewrap", **options})
                seen.append((type(caught.value), str(caught.value)))
            policy = get_security_policy("strict")
            session = make("bubblewrap", security_policy=policy)
            with pytest.raises(SandboxError) as caught:
                session.run("1")
            seen.append((type(caught.value), str(caught.value)))
            with session, pytest.raises(SandboxError) as caught:
                session.run("import os; os.system('true')")
            seen.append((type(caught.value), str(caught.value)))
        outcomes.append(seen)

    assert outcomes[0] == outcomes[1]
