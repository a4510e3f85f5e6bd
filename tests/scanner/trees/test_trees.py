"""The engines that read syntax trees: their corpora, their positions, and what no text may do."""

import random
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from llm_sandbox.results.findings import Capability, Span
from llm_sandbox.security.raw_findings import Engine, ScanOutput
from llm_sandbox.security.source import Source
from tests.scanner.trees.snippets import EXTENSIONS, Snippet, benign, malicious

pytest.importorskip("tree_sitter", reason="the grammars are the extra `scan`")

LANGUAGES = tuple(EXTENSIONS)
HARMLESS = {
    Capability.ENVIRONMENT,
    Capability.FILE_DELETE,
    Capability.FILE_PERMISSION,
    Capability.FILE_WRITE,
    Capability.NETWORK_WEB,
}
"""Code of ordinary programs, which no preset for everyday use stops."""


def scan(code: str, lang: str) -> ScanOutput:
    engine: Engine = import_module(f"llm_sandbox.security.trees.{lang}").scan
    return engine(Source(code, lang))


def kinds(code: str, lang: str) -> set[str]:
    return {str(each.capability) for each in scan(code, lang).findings}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_corpus_is_large_enough(lang: str) -> None:
    assert len(malicious(lang)) >= 60
    assert len(benign(lang)) >= 60
    assert len({each.capability for each in malicious(lang)}) >= 10


@pytest.mark.parametrize("snippet", [s for lang in LANGUAGES for s in malicious(lang)], ids=str)
def test_attack_is_seen_on_its_line(snippet: Snippet) -> None:
    found = scan(snippet.code, snippet.lang)
    assert found.engine == "tree-sitter"
    assert not found.problem
    assert snippet.line > 0
    places = {(str(each.capability), each.span.line) for each in found.findings}
    assert (snippet.capability, snippet.line) in places


@pytest.mark.parametrize("snippet", [s for lang in LANGUAGES for s in benign(lang)], ids=str)
def test_ordinary_program_is_nothing(snippet: Snippet) -> None:
    found = scan(snippet.code, snippet.lang)
    assert not found.problem
    assert [each for each in found.findings if each.capability not in HARMLESS] == []


@pytest.mark.parametrize(
    ("code", "lang", "subject", "span"),
    [
        ("é = '😀'; eval('1')", "javascript", "eval", Span(1, 10, 1, 19)),
        ("\r\n  eval('1')", "javascript", "eval", Span(2, 3, 2, 12)),
        (
            "int é;\nR\\u0075ntime.getRuntime().exec(c);",
            "java",
            "java.lang.Runtime.exec",
            Span(2, 1, 2, 34),
        ),
        ("int main() { sys\\\ntem(0); }", "cpp", "system", Span(1, 14, 2, 7)),
        (
            'package main\nimport "os"\nfunc f() { s := "é"; os.Remove(s) }',
            "go",
            "os.Remove",
            Span(3, 22, 3, 34),
        ),
    ],
)
def test_spans_are_those_of_the_given_text(code: str, lang: str, subject: str, span: Span) -> None:
    assert [each.span for each in scan(code, lang).findings if each.subject == subject] == [span]


def test_evaluated_text_is_read_with_places_in_both() -> None:
    code = 'let a = 1;\neval(\'\\nrequire("child_process").exec("id")\');'
    (run,) = [
        s for s in scan(code, "javascript").findings if s.capability is Capability.PROCESS_RUN
    ]
    assert run.subject == "child_process.exec"
    assert run.route == ("eval",)
    assert run.span.line == 2
    assert run.inner == Span(2, 1, 2, 36)


def test_confidence_says_how_it_was_come_by() -> None:
    code = "const c = require(x ? 'child_process' : 'path');\nc.exec('id');"
    code += " require('child_process').exec('id')"
    found = [s for s in scan(code, "javascript").findings if s.capability is Capability.PROCESS_RUN]
    assert [each.confidence for each in found] == ["medium", "high"]
    assert found[0].route == ("folded",)


@pytest.mark.parametrize(
    ("code", "lang", "names"),
    [
        (
            "import a from 'node:fs'; const {x} = require('ev' + 'ents'); await import('os')",
            "javascript",
            ["fs", "events", "os"],
        ),
        (
            "import java.util.*;\nimport static java.lang.Math.abs;\nclass A {}",
            "java",
            ["java.util", "java.lang.Math.abs"],
        ),
        ('#include <sys/socket.h>\n#define H "a.h"\n#include H\n', "cpp", ["sys/socket.h", "a.h"]),
        ('package main\nimport (\n\tx "os/exec"\n\t_ "embed"\n)\n', "go", ["os/exec", "embed"]),
    ],
)
def test_modules_are_listed(code: str, lang: str, names: list[str]) -> None:
    assert [each.name for each in scan(code, lang).modules] == names


@pytest.mark.parametrize(
    ("code", "lang", "capability"),
    [
        (
            "let x: number = 1; function f(a: string): void { require('child_process').exec(a) }",
            "javascript",
            "process.run",
        ),
        (
            'class A { void f() { int x = ; Runtime.getRuntime().exec("id"); } }',
            "java",
            "process.run",
        ),
        ('int main() { int x = ; system("id"); }', "cpp", "process.run"),
        (
            'package main\nimport "os/exec"\nfunc main() { x := ; exec.Command("id") }',
            "go",
            "process.run",
        ),
    ],
)
def test_broken_code_is_a_problem_and_still_read(code: str, lang: str, capability: str) -> None:
    found = scan(code, lang)
    assert found.problem
    assert found.problem_span is not None
    assert capability in {str(each.capability) for each in found.findings}


def test_places_in_comments_are_nothing() -> None:
    assert (
        kinds("// /etc/shadow eval('1')\n/* require('child_process').exec() */", "javascript")
        == set()
    )
    assert kinds("// /etc/shadow\nclass A { /* Runtime.getRuntime().exec(x) */ }", "java") == set()


def test_line_separators_end_comments_of_javascript() -> None:
    assert kinds("// nothing \u2028eval('1')", "javascript") == {"dynamic.code"}
    assert kinds("// nothing eval('1')", "javascript") == set()


HOSTILE = {
    "nested": "x=" + "(" * 100_000 + "1" + ")" * 100_000,
    "open": "{" * 100_000,
    "odd": "\x00\x01}{)(\"'`\ud800é😀" * 5_000,
    "angles": "a<" * 50_000,
    "sums": "x=" + "'a'+" * 50_000 + "'1'",
    "growing": "x='';" + "x+='a';" * 10_000,
    "methods": "x='a'" + ".concat('b')" * 20_000,
    "doubled": "x=[1];" + "x=[...x,...x];" * 5_000 + "x=x.concat(x);" * 5_000,
    "within": "x=[1];" + "x=[x,x];y=[x,y];" * 5_000,
    "functions": "function f(a){" * 10_000,
    "classes": "class A { void f(){" * 5_000,
    "macros": "".join(f"#define A{i} A{i - 1} A{i - 1}\n" for i in range(1, 1_000))
    + "int f(){A999;}",
    "evaluated": "eval(" * 10_000,
    "escapes": "\\u0041" * 50_000,
}


@pytest.mark.sampled
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_is_too_much(lang: str, name: str) -> None:
    assert "tree-sitter" == scan(HOSTILE[name], lang).engine


@pytest.mark.parametrize("lang", LANGUAGES)
def test_mutated_programs_are_read_and_read_alike(lang: str) -> None:
    chance = random.Random(7)
    pool = [each.code for each in (*malicious(lang), *benign(lang))]
    for _ in range(150):
        code = chance.choice(pool)
        for _ in range(4):
            at, other = chance.randrange(len(code) + 1), chance.choice(pool)
            piece = chance.choice(
                ["(", "{", '"', "`", "\\", "\n", "\0", "\ud800", "é", other[:40], ""]
            )
            code = code[:at] + piece + code[at + chance.randrange(4) :]
        first, second = scan(code, lang), scan(code, lang)
        assert first == second
        for each in first.findings:
            assert (each.span.line, each.span.column) <= (each.span.end_line, each.span.end_column)


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_snippets_are_javascript(tmp_path: Path) -> None:
    for snippet in benign("javascript")[::10]:
        is_module = "import " in snippet.code or "await " in snippet.code
        file = tmp_path / ("x.mjs" if is_module else "x.cjs")
        file.write_text(snippet.code)
        checked = subprocess.run(["node", "--check", file], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
