"""Handlers of JavaScript and TypeScript, without running anything."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from llm_sandbox.language_handlers import javascript
from llm_sandbox.language_handlers.javascript import JavaScriptHandler, TypeScriptHandler
from llm_sandbox.language_handlers.javascript.errors import uncaught_error

SHIM = Path(javascript.__file__).with_name("shim")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a // b\nc", "a\nc"),
        ("a /* b\nc */ d", "a \n d"),
        ("'//' + \"/*\" // x", "'//' + \"/*\""),
        ("`// ${ 1 /* y */ } //` // z", "`// ${ 1   } //`"),
        ("`${`//${a}`}`//b", "`${`//${a}`}`"),
        ("x = /[/*]\\//g // y", "x = /[/*]\\//g"),
        ("a / b // c / d", "a / b"),
        ("if (a) /\\/\\//.test(b) // c", "if (a) /\\/\\//.test(b)"),
        ("f(a) / 2 /* g */ / 3", "f(a) / 2   / 3"),
        ("return /'/.test(a) // '", "return /'/.test(a)"),
        ("a++ / 2 // b\n/x/.y", "a++ / 2\n/x/.y"),
        ("#!/usr/bin/env node\na", "\na"),
        ("({}) / 2 // x", "({}) / 2"),
        ("'it\\'s // ' // x", "'it\\'s // '"),
        ("a /* never closed", "a "),
        ("`never closed // ", "`never closed // "),
    ],
)
def test_comments_are_left_out(code: str, expected: str) -> None:
    filtered = JavaScriptHandler().filter_comments(code)

    assert expected.rstrip() == filtered.rstrip()
    assert code.count("\n") == filtered.count("\n")


@pytest.mark.parametrize(
    "text", ["/*", "`${", "a/", "/[", '"\\\n', "((", "//", "1e+", "'", "<!--", "{`"]
)
def test_hostile_code_takes_linear_time(text: str) -> None:
    def seconds(count: int) -> float:
        began = time.process_time()
        JavaScriptHandler().filter_comments(text * count)
        JavaScriptHandler().source_name(text * count)
        return time.process_time() - began

    assert seconds(40_000) < 30 * max(seconds(4_000), 0.01)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import a from 'b'", "main.mjs"),
        ("export const a = 1", "main.mjs"),
        ("const a = await b()", "main.mjs"),
        ("if (a) { await b }", "main.mjs"),
        ("for await (const a of b) {}", "main.mjs"),
        ("import.meta.url", "main.mjs"),
        ("const a = require('b')", "main.js"),
        ("import('a').then(b)", "main.js"),
        ("async function f() { if (a) { await b() } }", "main.js"),
        ("const f = async () => { await a }", "main.js"),
        ("class A { async f() { await b } }", "main.js"),
        ("// import a from 'b'\n'export'; `import ${1} from`", "main.js"),
        ("a.import; ({ export: 1, await: 2 })", "main.js"),
    ],
)
def test_modules_are_told_from_scripts(code: str, name: str) -> None:
    assert name == JavaScriptHandler().source_name(code)
    assert name.replace("js", "ts") == TypeScriptHandler().source_name(code)


@pytest.mark.parametrize(
    "code",
    [
        "const fs = require('fs')",
        'import { a } from "fs"',
        "import 'node:fs'",
        "export * from `fs/promises`",
        "await import ( 'fs' )",
        "import fs from\n  'fs'",
        "require.resolve('fs')",
    ],
)
def test_imports_are_seen(code: str) -> None:
    assert re.search(JavaScriptHandler().get_import_patterns("fs"), code, re.MULTILINE)


@pytest.mark.parametrize("code", ["require('fs-extra')", "myrequire('fs')", "a.from('x')", "'fs'"])
def test_other_imports_are_not(code: str) -> None:
    assert not re.search(JavaScriptHandler().get_import_patterns("fs"), code, re.MULTILINE)


def test_both_languages_share_a_folder() -> None:
    assert JavaScriptHandler().shim_folder == TypeScriptHandler().shim_folder == SHIM


def test_an_error_of_node_is_read() -> None:
    words = """noise:1
file:///sandbox/main.mjs:2
  throw new TypeError("a: b");
        ^

TypeError: a: b
second line
    at f (file:///sandbox/main.mjs:2:9)
    at file:///sandbox/main.mjs:5:1
    at ModuleJob.run (node:internal/modules/esm/module_job:325:25) {
  code: 3
}

Node.js v20.0.0
"""
    error = uncaught_error(words, "/tmp/x/main.mjs")

    assert error is not None
    assert ("TypeError", "a: b\nsecond line", 2, 9) == (
        error.name,
        error.value,
        error.line,
        error.column,
    )
    assert [("main.mjs", 5, ""), ("main.mjs", 2, "f")] == [
        (frame.file, frame.line, frame.function) for frame in error.frames
    ]
    assert uncaught_error("only words\n", "/tmp/x/main.mjs") is None


@pytest.mark.parametrize("path", sorted(SHIM.iterdir()), ids=lambda path: path.name)
def test_the_shim_is_javascript(path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed (Debian: nodejs)")
    done = subprocess.run(["node", "--check", path], capture_output=True, text=True, timeout=60)

    assert (0, "") == (done.returncode, done.stderr)
