"""A policy's own patterns: what `re` would find, within a budget of time."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox.results.findings import Span
from llm_sandbox.security.models import PatternTarget, SecurityIssueSeverity, SecurityPattern
from llm_sandbox.security.patterns import PatternHit, compile_pattern, search
from llm_sandbox.security.source import Source

ROOT = Path(__file__).resolve().parents[2]
BUDGET_S = 0.25

CATASTROPHES = [
    (r"(a+)+$", "a" * 5_000 + "!"),
    (r"(.*a){20}$", "a " * 5_000 + "b"),
    (r"(x+x+)+y", "x" * 50_000 + " y"),
    (r"(a|aa)+$", "a" * 5_000 + "!"),
    (r"([a-z]+)*\d$", "a" * 50_000 + "!"),
    (r"(?:\w+\s?)+;", "word " * 2_000 + "!;"),
    (r"\s+$", " " * 90_000 + "x"),
    (r"(?s).*?foo.*?bar$", "foo" * 30_000 + "bar."),
    (r"((a*)*)*b$", "a" * 5_000 + "b!"),
]


def pattern(expression: str, **changes: Any) -> SecurityPattern:
    return SecurityPattern(
        pattern=expression, description="d", severity=SecurityIssueSeverity.HIGH, **changes
    )


def find(text: str, *patterns: SecurityPattern, budget_s: float = BUDGET_S) -> list[PatternHit]:
    """The hits in text of which nothing is masked."""
    return search(patterns, Source(text, "python"), lambda _: text, budget_s)


@pytest.mark.parametrize(("expression", "text"), CATASTROPHES, ids=lambda value: value[:20])
def test_catastrophe_ends(expression: str, text: str) -> None:
    """A pattern that would search for ever is given up in time, and counts as found."""
    started = time.process_time()
    hits = find(text, pattern(expression))
    # Where it stands: the machine may be busy with others, and the search looks at its clock
    # only now and then.
    assert time.process_time() - started < 4 * BUDGET_S
    assert [PatternHit(0, Source(text, "python").line_span(1), timed_out=True)] == hits


@pytest.mark.parametrize("number", [0, 1])
def test_re_does_not_end(number: int) -> None:
    """The same pattern keeps `re` for longer than ten budgets: the tests above can fail."""
    expression, text = CATASTROPHES[number]
    code = f"import re; re.search({expression!r}, {text!r}, re.M)"
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", code], timeout=10 * BUDGET_S)


def test_the_others_are_still_decided() -> None:
    """One that uses up its share takes nothing from the others, before and after it."""
    expression, text = CATASTROPHES[0]
    text += "\nimport os\n"
    slow, found, absent = pattern(expression), pattern(r"^import os$"), pattern("absent")
    hits = find(text, absent, found, slow, absent, slow, found)
    assert [(1, False), (2, True), (4, True), (5, False)] == [
        (hit.index, hit.timed_out) for hit in hits
    ]
    assert {Span(2, 1, 2, 10)} == {hit.span for hit in hits if not hit.timed_out}


def test_budget_is_shared() -> None:
    """Twenty patterns take no longer together than one."""
    expression, text = CATASTROPHES[0]
    started = time.process_time()
    hits = find(text, *[pattern(expression)] * 20)
    assert time.process_time() - started < 4 * BUDGET_S
    assert list(range(20)) == [hit.index for hit in hits]
    assert all(hit.timed_out for hit in hits)


def test_long_code_has_more_time() -> None:
    """What takes its time in proportion to the code is decided, however long the code is."""
    text = "value = compute(first, second)  # nothing to see\n" * 40_000
    ordinary = [pattern(rf"(?:a|b|c)\w+{number}\s*\(") for number in range(10)]
    assert [] == find(text, *ordinary)
    hits = find(f"{text}a_9 (", *ordinary)
    assert [(9, 40_001, False)] == [(hit.index, hit.span.line, hit.timed_out) for hit in hits]


EXPRESSIONS = [
    r"\bimport\s+os\b",
    r"^import os$",
    r"os$",
    r"\Aimport",
    r"os\Z",
    r"(?i)IMPORT",
    r"(?s)import.*system",
    r"(?x) import \s os  # a { comment",
    r"(?x) i { 2 }",
    r"(?P<quote>['\"])a(?P=quote)",
    r"(?<!\w)eval\s*\(",
    r"(?<=os\.)system",
    r"(?>a+)b",
    r"a++b",
    r"a{2}",
    r"a{2,}",
    r"a{,2}b",
    r"a{,}b",
    r"a{}",
    r"a{ 2}",
    r"a{2",
    r"{",
    r"{e}",
    r"foo{e}",
    r"(?:foo){e<=2}",
    r"(?:foo){i,d}",
    r"\${\w+}",
    r"\${s}",
    r"{s:\d+}",
    r"[]a]b",
    r"[^]a]b",
    r"[\]{]s",
    r"[a-z&&[^b]]",
    r"[[:alpha:]]",
    r"[[a]b]",
    r"[a||b]s",
    r"[+--]",
    r"[a~~b]",
    r"[\w.-]+@",
    r"\N{LATIN SMALL LETTER A}b",
    r"[\N{LATIN SMALL LETTER A}]b",
    r"\x61b",
    r"\u0061b",
    r"\{e}",
    r"\\{e}",
    r"(a)?(?(1)b|c)",
    r"(a|b)\1",
    r"\0",
    r"(?a:\w)\W",
    r"x*",
    r"",
    r"(?#{e})a",
    r"\d{3}-\d{4}",
    r"\bé",
    r"(?i)É",
    r"(?i)straße",
]
TEXTS = [
    "import os\nos.system('ls')\n",
    "x = eval ('1')\nIMPORT = \"a\"",
    "foo foo{e} fop f{e}{s} ${s} ${name} {s:12} {e} {",
    "a{} a{ 2} a{2 aab aaa ab b]b ]b a]b {s ]s",
    "i{ 2 } ii i{2}  x",
    ":alpha:] [a] [b]] a&&] &b] a--b]",
    "abab\x00cb bb a-- |s ~~ é STRASSE 555-1234 me@x.org",
    "foo){e<=2} foo){i,d} (?:foo){e<=2} xfoo{i,d} foo{e<=2}",
    "",
]


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_same_as_re(expression: str, ignore_case: bool) -> None:
    """The first match is that of `re`, also where `regex` by itself means something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of sets in sets, which `re` may once know
        plain = re.compile(expression, re.MULTILINE | (re.IGNORECASE if ignore_case else 0))
        own = pattern(expression, ignore_case=ignore_case)
    for text in TEXTS:
        expected = plain.search(text)
        hits = find(text, own)
        spans = [Source(text, "python").span(*expected.span())] if expected else []
        assert spans == [hit.span for hit in hits], text
        assert not any(hit.timed_out for hit in hits)


def test_some_expressions_differ_by_themselves() -> None:
    """Without its translation `regex` finds other things: the test above can fail."""
    import regex

    assert regex.search("(?:foo){e<=2}", "fop")
    assert not re.search("(?:foo){e<=2}", "fop")
    assert not find("fop", pattern("(?:foo){e<=2}"))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a\nimport os\n", 2),
        ("a\r\nimport os\r\n", 2),
        ("a\rimport os\r", 2),
        ("a\n\rimport os", 3),
    ],
)
def test_line_ends(text: str, place: int) -> None:
    """`^` and `$` match at each end of line that the language knows, also at a lone return."""
    (hit,) = find(text, pattern("^import os$"))
    assert Span(place, 1, place, 10) == hit.span


def test_targets() -> None:
    """Each pattern sees the text of its own target, which is made once."""
    asked: list[PatternTarget] = []

    def mask(target: PatternTarget) -> str:
        asked.append(target)
        return {"code": "x = '    '  #", "strings": "     evil    ", "all": "x = 'evil'  #"}[target]

    source = Source("x = 'evil'  #", "python")
    patterns = [pattern("evil", target=target) for target in ("code", "strings", "all", "strings")]
    hits = search(patterns, source, mask)
    assert [1, 2, 3] == [hit.index for hit in hits]
    assert {Span(1, 6, 1, 10)} == {hit.span for hit in hits}
    assert ["code", "strings", "all"] == asked


def test_case() -> None:
    """Case counts unless the pattern says otherwise."""
    assert not find("OS.SYSTEM", pattern("os"))
    assert find("OS.SYSTEM", pattern("os", ignore_case=True))


@pytest.mark.parametrize(
    "expression",
    [
        r"a{4294967294}",
        r"(?:a{1000}){1000}",
        r"(?:(?:(?:a{1000}){1000}){1000}){1000}",
        r"(?:a{0,4294967294}b){4294967294}",
        r"(?x)(?:a{1000}) {1000}",
        "(?x)(?:a{1000})#c\n{1000}",
        r"[ab]{100000}",
        r"(?:\w{200}b){200}",
    ],
)
def test_counted_repeats(expression: str) -> None:
    """Counts that would take memory before any search are refused at once, and count as found."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="counts"):
        compile_pattern(expression)
    (hit,) = find("nothing", pattern(expression))
    assert hit.timed_out
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_ordinary_repeats() -> None:
    """Usual counts, and open ones, are searched."""
    for expression in (r"a{1000}", r"(?:ab{3}){100}", r"a{1,60000}!", r"\w{32,}", r"(?:a{,9}){9}b"):
        assert not find("nothing", pattern(expression))


@pytest.mark.parametrize(("opens", "closes"), [("(", ")"), ("(?:", ")*"), ("(?=", ")")])
def test_deep_nesting(opens: str, closes: str) -> None:
    """What `regex` cannot take for its nesting counts as found, and says why when asked."""
    deep = opens * 1_000 + "a" + closes * 1_000
    with pytest.raises(ValueError, match="nested too deeply"):
        compile_pattern(deep)
    (hit,) = search([_unchecked(deep)], Source("b", "python"), lambda _: "b")
    assert hit.timed_out
    shallow = opens * 20 + "a" + closes * 20
    (hit,) = search([_unchecked(shallow)], Source("a", "python"), lambda _: "a")
    assert not hit.timed_out


def _unchecked(expression: str) -> SecurityPattern:
    return SecurityPattern.model_construct(
        pattern=expression, description="d", severity=SecurityIssueSeverity.HIGH
    )


@pytest.mark.parametrize("expression", ["(", "a{2}{3}", "[", "(?P<n", "*", r"\k"])
def test_no_expression(expression: str) -> None:
    """What is no regular expression is refused, and nothing else is raised."""
    with pytest.raises(ValueError, match="not a regular expression"):
        compile_pattern(expression)


def test_strange_text() -> None:
    """Half characters, NUL and emptiness are text like any other."""
    for text in ("", "\ud800", "\0" * 1_000, "a\u2028b"):
        assert not find(text, pattern("absent"))
    assert find("a\ud800b", pattern("b"))


def test_not_loaded_before() -> None:
    """Neither the package nor its policies load `regex`; a search does."""
    code = (
        "import sys, llm_sandbox.security\n"
        "from llm_sandbox.security import patterns\n"
        "before = 'regex' in sys.modules\n"
        "patterns.compile_pattern('a')\n"
        "print(before, 'regex' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert "False True\n" == done.stdout, done.stderr
