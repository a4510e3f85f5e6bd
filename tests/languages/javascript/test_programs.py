"""Whole programs, scripts and modules, as if their file were in the working directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.session.session import BaseSession

pytestmark = pytest.mark.timeout(120)

RUN_S = 60


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    """A session of whole programs with two files to import."""
    with SandboxSession(lang="javascript", backend="bubblewrap", persistent=False) as session:
        session.run(
            """
            const fs = require("fs");
            fs.writeFileSync("plain.js", "exports.one = 1;");
            fs.writeFileSync("modern.mjs", "export const two = 2;");
            """,
            timeout=RUN_S,
        )
        yield session


def test_a_script_finds_what_is_beside_it(session: BaseSession) -> None:
    code = """
    console.log(require("./plain").one, require.main === module, __dirname, process.argv.length);
    """
    result = session.run(code, timeout=RUN_S)

    assert ("1 true /sandbox 2\n", "") == (result.stdout, result.stderr)


def test_a_module_finds_what_is_beside_it(session: BaseSession) -> None:
    code = """
    import path from "node:path";
    import { fileURLToPath } from "node:url";
    import { two } from "./modern.mjs";
    import plain from "./plain.js";
    console.log(two, plain.one, path.dirname(fileURLToPath(import.meta.url)));
    console.log(require("./plain.js").one, (await import("./modern.mjs")).two);
    """
    result = session.run(code, timeout=RUN_S)

    assert ("2 1 /sandbox\n1 2\n", "") == (result.stdout, result.stderr)


@pytest.mark.parametrize("line", ["", "import 'fs';"])
def test_an_error_has_its_place(session: BaseSession, line: str) -> None:
    result = session.run(f"{line}\nfunction f() {{\n  null.x;\n}}\nf();", timeout=RUN_S)
    error = result.error

    assert error is not None
    assert ("TypeError", 3, 8, "exception") == (error.name, error.line, error.column, error.kind)
    assert [5, 3] == [frame.line for frame in error.frames][-2:]
    assert ".llm-sandbox-" not in result.stderr


def test_a_syntax_error_has_its_place(session: BaseSession) -> None:
    error = session.run("const a = 1;\nlet b = ;", timeout=RUN_S).error

    assert error is not None
    assert ("SyntaxError", "syntax", 2, 9) == (error.name, error.kind, error.line, error.column)


def test_a_program_waits_as_node_does(session: BaseSession) -> None:
    code = "setTimeout(() => console.log('late'), 30); console.log('soon')"

    assert "soon\nlate\n" == session.run(code, timeout=RUN_S).stdout


def test_output_is_whole_when_it_exits(session: BaseSession) -> None:
    result = session.run("console.log('x'.repeat(2_000_000)); process.exit(9)", timeout=RUN_S)

    assert (2_000_001, 9) == (len(result.stdout), result.exit_code)


def test_typescript_is_run_in_two_steps() -> None:
    with SandboxSession(lang="typescript", backend="bubblewrap", persistent=False) as session:
        good = session.run("const n: number = 6; console.log(n * 7);", timeout=RUN_S)
        late = session.run("interface A {}\n\nconst a: any = null;\na.b;", timeout=RUN_S).error
        early = session.run("let a: number = 1;\nlet b: = 2;", timeout=RUN_S).error

    assert ("42\n", "") == (good.stdout, good.stderr)
    assert late is not None
    assert ("TypeError", 4) == (late.name, late.line)
    assert early is not None
    assert ("syntax", 2, 8) == (early.kind, early.line, early.column)
