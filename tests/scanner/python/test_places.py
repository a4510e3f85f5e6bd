"""Findings are where the act is, to the character."""

from __future__ import annotations

import pytest

from llm_sandbox.results.findings import Span
from tests.scanner.python.seeing import first, look


@pytest.mark.parametrize(
    ("code", "span"),
    [
        ("import os\nos.system('id')", Span(2, 1, 2, 16)),
        ("import os\nx = 'äöü'; os.system('ß')", Span(2, 12, 2, 26)),
        ("import os\r\nos.system(\r\n 'id'\r\n)", Span(2, 1, 4, 2)),
        ("\ufeffimport os; os.system('id')", Span(1, 13, 1, 28)),
        ("import os\nx = '😀'; (os\n .system)('id')", Span(2, 10, 3, 16)),
    ],
)
def test_span_of_a_call(code: str, span: Span) -> None:
    assert first(code, "process.run").span == span


@pytest.mark.parametrize(
    ("code", "span"),
    [
        ("x = 1\n  !ls -la", Span(2, 3, 2, 10)),
        ("files = !ls", Span(1, 9, 1, 12)),
        ("%%bash\nls", Span(1, 1, 1, 7)),
        ("%%time\nimport os\nos.system('id')", Span(3, 1, 3, 16)),
        ("x = '''\n!ls\n'''\n!ls", Span(4, 1, 4, 4)),
    ],
)
def test_span_in_a_cell(code: str, span: Span) -> None:
    assert first(code, "process.run", True).span == span


def test_evaluated_text_has_both_places() -> None:
    found = first("x = 1\nexec('import os\\nos.system(\"id\")')", "process.run")
    assert found.span == Span(2, 1, 2, 35)
    assert found.inner == Span(2, 1, 2, 16)
    assert found.route == ("exec",)


def test_a_function_of_evaluated_text_keeps_its_place() -> None:
    found = first("exec('def f():\\n  import os\\n  os.system(\"id\")')\nf()", "process.run")
    assert found.span.line == 1
    assert found.inner == Span(3, 3, 3, 18)


def test_broken_code_is_told_and_still_read() -> None:
    output = look("import os\nos.system('id')\nx = = 1\n    os.popen('a')\n")
    assert output.problem
    assert output.problem_span is not None
    assert output.problem_span.line == 3
    assert {(s.subject, s.span.line) for s in output.findings} >= {
        ("os.system", 2),
        ("os.popen", 4),
    }
