"""Sessions in Node.js, as its users expect them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import SandboxTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox import ExecutionResult
    from llm_sandbox.results.outputs import ExecutionError
    from llm_sandbox.session.session import BaseSession

pytestmark = pytest.mark.timeout(120)

RUN_S = 60


def value_of(session: BaseSession, *codes: str) -> str | None:
    """The value of the last of some runs, all of which end well."""
    for code in codes:
        result = session.run(code, timeout=RUN_S)
        assert (0, "") == (result.exit_code, result.stderr), code
    return result.value


def error_of(session: BaseSession, code: str) -> ExecutionError:
    error = session.run(code, timeout=RUN_S).error
    assert error is not None
    return error


def stopped(session: BaseSession, code: str, after_s: float = 1) -> ExecutionResult:
    with pytest.raises(SandboxTimeoutError) as caught:
        session.run(code, timeout=after_s)
    assert caught.value.result is not None
    return caught.value.result


@pytest.fixture
def own() -> Iterator[BaseSession]:
    """A session of the test's own."""
    with SandboxSession(lang="javascript", backend="bubblewrap") as session:
        yield session


# --- declarations


@pytest.mark.parametrize("first", ["let", "const", "class", "var", "function"])
@pytest.mark.parametrize("second", ["let", "const", "class", "var", "function"])
def test_a_name_can_be_declared_anew_in_any_way(
    shared: BaseSession, first: str, second: str
) -> None:
    def declare(kind: str, mark: str) -> str:
        return {
            "class": f"class {name} {{ static toString() {{ return '{mark}' }} }}",
            "function": f"function {name}() {{}}\n{name}.toString = () => '{mark}'",
        }.get(kind, f"{kind} {name} = '{mark}'")

    name = f"{first}_{second}"

    assert "'old'" == value_of(shared, declare(first, "old"), f"String({name})")
    assert "'new'" == value_of(shared, declare(second, "new"), f"String({name})")


def test_a_constant_stays_one(shared: BaseSession) -> None:
    for code in ("const fixed = 1; fixed = 2", "const kept = 1", "kept = 2"):
        result = shared.run(code, timeout=RUN_S)
    assert "Assignment to constant variable." == error_of(shared, "kept = 3").value
    assert "TypeError" == getattr(result.error, "name", None)
    assert "1" == value_of(shared, "kept")


def test_the_same_name_twice_in_one_run_is_an_error(shared: BaseSession) -> None:
    error = error_of(shared, "let twice = 1;\nlet twice = 2;")

    assert ("SyntaxError", "syntax", 2) == (error.name, error.kind, error.line)
    assert "twice" in error.value


def test_an_object_literal_is_a_value(shared: BaseSession) -> None:
    assert "{ a: 1, b: [ 2 ] }" == value_of(shared, "{ a: 1, b: [2] }")


def test_values_read_as_node_prints_them(shared: BaseSession) -> None:
    assert "Map(1) { 'a' => Set(1) { 1 } }" == value_of(shared, "new Map([['a', new Set([1])]])")
    assert "-0" == value_of(shared, "-0")
    assert "12345678901234567890n" == value_of(shared, "12345678901234567890n")
    assert value_of(shared, "undefined") is None
    assert "null" == value_of(shared, "null")


# --- modules


def test_import_and_require_find_files_and_packages(own: BaseSession) -> None:
    own.run(
        """
        const fs = require("fs");
        fs.writeFileSync("plain.js", "exports.one = 1; exports.two = 2;");
        fs.writeFileSync("modern.mjs", "export default 3; export const four = 4;");
        fs.mkdirSync("node_modules/only-modern", { recursive: true });
        const about = '{"exports": {"import": "./index.mjs"}}';
        fs.writeFileSync("node_modules/only-modern/package.json", about);
        fs.writeFileSync("node_modules/only-modern/index.mjs", "export const five = 5;");
        """,
        timeout=RUN_S,
    )
    imports = """
        import { one, two as zwei } from "./plain.js";
        import three, { four } from './modern.mjs'; import * as rest from "only-modern"
        import process, { argv } from "node:process";
    """

    assert "[ 1, 2, 3, 4, 5, true ]" == value_of(
        own, imports, "[one, zwei, three, four, rest.five, process.argv === argv]"
    )
    assert "2" == value_of(own, "const { two } = require('./plain'); two")
    assert "true" == value_of(own, "require.main === module && __dirname === process.cwd()")
    assert "'main.js'" == value_of(own, "path = require('path'); path.basename(import.meta.url)")


def test_what_a_module_lacks_is_an_error(shared: BaseSession) -> None:
    error = error_of(shared, "1;\nimport { nothing } from 'node:fs';")

    assert ("SyntaxError", 2) == (error.name, error.line)
    assert "nothing" in error.value
    assert "no-such-package" in error_of(shared, "import x from 'no-such-package'").value


# --- errors


def test_frames_are_those_of_the_code(shared: BaseSession) -> None:
    value_of(shared, "function outer(run) {\n  return run();\n}")
    result = shared.run("1;\n\nouter(() => {\n  throw new RangeError('deep');\n});", timeout=RUN_S)
    error = result.error

    assert error is not None
    assert ("RangeError", "deep", 4, 9) == (error.name, error.value, error.line, error.column)
    files = [(frame.file.partition(" of run ")[0], frame.line) for frame in error.frames]
    assert [("main.js", 3), ("main.js", 2), ("main.js", 4)] == files
    assert "throw new RangeError('deep');" == error.frames[-1].source
    assert "llm_sandbox" not in result.stderr
    assert "node:internal" not in result.stderr


def test_a_caught_error_prints_without_frames_of_ours(shared: BaseSession) -> None:
    result = shared.run("try { null.x } catch (error) { console.log(error.stack) }", timeout=RUN_S)

    assert 2 == len(result.stdout.splitlines())
    assert "at main.js:1:12" in result.stdout


@pytest.mark.parametrize(
    "code",
    [
        "\nPromise.reject(new TypeError('late'));",
        "\nsetTimeout(() => { throw new TypeError('late') }, 5);",
        "\nasync function f() { await null; throw new TypeError('late') }; f();",
        "\nprocess.nextTick(() => { throw new TypeError('late') });",
    ],
)
def test_errors_that_nobody_awaits_end_the_run(shared: BaseSession, code: str) -> None:
    error = error_of(shared, code)

    assert ("TypeError", "late", 2) == (error.name, error.value, error.line)


def test_names_of_the_language_can_be_taken(own: BaseSession) -> None:
    """What runs the code does not look its own names up among the user's."""
    names = [
        "Map",
        "Set",
        "Promise",
        "Object",
        "Error",
        "JSON",
        "Buffer",
        "Atomics",
        "String",
        "Number",
        "Symbol",
        "performance",
    ]
    own.run("\n".join(f"const {name} = 1;" for name in names), timeout=RUN_S)
    own.run("import process from 'node:process'; class Array {}", timeout=RUN_S)

    assert "[ { a: 1 } ]" == value_of(own, "[{ a: 1 }]")
    assert 1 == error_of(own, "null.x").line
    assert "kept" == stopped(own, "for (;;);").state


def test_a_wait_that_cannot_end_is_an_error(shared: BaseSession) -> None:
    assert "UnsettledAwait" == error_of(shared, "await new Promise(() => {});").name


def test_something_else_is_thrown(shared: BaseSession) -> None:
    assert "{ code: 5 }" == error_of(shared, "throw { code: 5 }").value


# --- the end of a run


def test_a_run_waits_for_what_it_began(shared: BaseSession) -> None:
    code = """
    setTimeout(() => setTimeout(() => console.log("timers"), 20), 20);
    require("fs").readFile("/etc/hostname", () => console.log("file"));
    require("child_process").exec("echo child", (_, out) => process.stdout.write(out));
    """
    result = shared.run(code, timeout=RUN_S)

    assert {"timers", "file", "child"} == set(result.stdout.split())


def test_a_run_waits_for_threads_that_are_held(own: BaseSession) -> None:
    start = "const { Worker } = require('worker_threads');"
    code = f"{start} new Worker('setTimeout(() => console.log(1), 20)', {{ eval: true }}); 0"
    assert "1\n" == own.run(code, timeout=RUN_S).stdout

    code = "const free = new Worker('setInterval(() => 1, 50)', { eval: true }); free.unref(); 0"
    assert "0" == value_of(own, code)
    assert "0" == value_of(own, "free.terminate()")
    assert "kept" == stopped(own, "new Worker('for (;;);', { eval: true }); 0").state


def test_what_never_settles_may_become_garbage(own: BaseSession) -> None:
    """V8 tells of a promise that it collects; by then nobody listens any more."""
    waste = "for (let i = 0; i < 400_000; i += 1) new Array(100).fill(i);"
    own.run("await new Promise(() => {})", timeout=RUN_S)
    own.run(f"setTimeout(() => {{ {waste} }}, 5); await new Promise(() => {{}})", timeout=RUN_S)

    assert "'on'" == value_of(own, f"{waste} 'on'")
    assert "kept" == own.run("1", timeout=RUN_S).state


def test_a_run_does_not_wait_for_servers(own: BaseSession) -> None:
    start = """
    const server = require("http").createServer((_, answer) => answer.end("served"));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    """
    fetch = "await (await fetch(`http://127.0.0.1:${server.address().port}`)).text()"

    assert "'served'" == value_of(own, start, fetch)


def test_exit_ends_the_run_and_not_the_state(own: BaseSession) -> None:
    code = """
    const kept = 1;
    process.on("exit", (code) => console.log("leaving with", code));
    setTimeout(() => console.log("never"), 50);
    try { process.exit(7) } catch { console.log("caught") } finally { console.log("finally") }
    """
    result = own.run(code, timeout=RUN_S)

    assert ("exited", 7) == (result.status, result.exit_code)
    assert "leaving with 7\n" == result.stdout
    assert "1" == value_of(own, "kept")


def test_the_exit_code_alone_ends_it_as_well(own: BaseSession) -> None:
    result = own.run("process.exitCode = 3; console.log('on')", timeout=RUN_S)

    assert ("exited", 3, "on\n") == (result.status, result.exit_code, result.stdout)


def test_output_before_an_exit_or_a_kill_is_whole(own: BaseSession) -> None:
    for ending in ("process.exit(1)", "process.kill(process.pid, 'SIGKILL')"):
        result = own.run(f"console.log('x'.repeat(1_000_000)); {ending}", timeout=RUN_S)
        assert 1_000_001 == len(result.stdout)


# --- stopping


@pytest.mark.parametrize(
    "code",
    [
        "for (;;);",
        "await null; for (;;);",
        "for (;;) await null;",
        "setInterval(() => { for (;;); }, 1);",
        "setImmediate(function again() { setImmediate(again) });",
        "await new Promise((resolve) => setTimeout(resolve, 60_000));",
        "const { setTimeout: sleep } = require('timers/promises'); for (;;) await sleep(5);",
        "try { for (;;); } catch { for (;;); } finally { for (;;); }",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
        "require('child_process').execSync('sleep 60')",
    ],
)
def test_everything_can_be_stopped(shared: BaseSession, code: str) -> None:
    value_of(shared, "const marker = 'kept'")

    began = time.monotonic()
    result = stopped(shared, code)

    assert "kept" == result.state
    assert time.monotonic() - began < 10
    assert "'kept'" == value_of(shared, "marker")


def test_what_cannot_be_stopped_ends_with_the_process(own: BaseSession) -> None:
    """A loop that always comes back by way of the system has no timer to clear."""
    result = stopped(own, "const fs = require('fs/promises'); for (;;) await fs.stat('.');")

    assert "reset" == result.state
    assert "2" == value_of(own, "1 + 1")


# --- input


def test_all_ways_of_reading(shared: BaseSession) -> None:
    readers = [
        "console.log(require('fs').readFileSync(0, 'utf8').trim().split('\\n').join())",
        "console.log(require('fs').readFileSync('/dev/stdin', 'utf8').trim().split('\\n').join())",
        """let all = '';
        for await (const part of process.stdin) all += part;
        console.log(all.trim().split('\\n').join())""",
        """const found = [];
        const reader = require('readline').createInterface({ input: process.stdin });
        reader.on('line', (line) => found.push(line));
        reader.on('close', () => console.log(found.join()))""",
        """let heard = '';
        process.stdin.on('data', (data) => (heard += data));
        process.stdin.on('end', () => console.log(heard.trim().split('\\n').join()))""",
    ]
    for reader in readers:
        assert "one,two\n" == shared.run(reader, stdin="one\ntwo\n", timeout=RUN_S).stdout, reader
        assert "\n" == shared.run(reader, timeout=RUN_S).stdout, reader


def test_a_question_is_answered(shared: BaseSession) -> None:
    code = """
    const { createInterface } = require("readline/promises");
    const reader = createInterface({ input: process.stdin, output: process.stdout });
    const name = await reader.question("name? ");
    reader.close();
    console.log(`hello ${name}`);
    """
    assert "name? hello Ada\n" == shared.run(code, stdin="Ada\nrest\n", timeout=RUN_S).stdout
    assert "name? hello Bob\n" == shared.run(code, stdin="Bob\n", timeout=RUN_S).stdout


# --- TypeScript


def test_types_are_taken_away(typed: BaseSession) -> None:
    first = """
    enum Colour { Red, Green }
    interface Named { name: string; colour?: Colour }
    class Thing implements Named {
      constructor(public name: string, readonly colour = Colour.Green) {}
    }
    const things: Named[] = [new Thing("a")];
    """
    assert "'a Green'" == value_of(
        typed, first, "`${things[0]!.name} ${Colour[things[0].colour!]}`"
    )
    assert "true" == value_of(
        typed, 'import { existsSync } from "fs"', 'existsSync("/") as boolean'
    )


def test_lines_of_typescript_are_its_own(typed: BaseSession) -> None:
    code = """interface A {
  a: number;
}
function f(x: A): never {
  throw new Error(`${x.a}`);
}

f({ a: 1 });"""
    error = error_of(typed, code)

    assert ("Error", "1", 5) == (error.name, error.value, error.line)
    assert [("main.ts", 8), ("main.ts", 5)] == [(frame.file, frame.line) for frame in error.frames]
    error = error_of(typed, "const a: number = 1;\nlet b: = 2;")
    assert ("SyntaxError", "syntax", 2, 8) == (error.name, error.kind, error.line, error.column)


def test_what_is_shown_between_runs_is_let_go(own: BaseSession) -> None:
    """A server that shows something when no run is under way answers, and the session goes on."""
    code = """
        require('http').createServer((request, response) => {
          display.html('<b>late</b>');
          response.end('answered');
        }).listen(8123);
        1
    """
    assert value_of(own, code) == "1"
    ask = 'printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3; timeout 20 cat <&3'
    said = own.execute_command(f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/8123; {ask}'")
    assert said.stdout.endswith("answered")
    assert value_of(own, "6 * 7") == "42"
