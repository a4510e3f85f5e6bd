"""Code in the answers of models."""

from __future__ import annotations

import pytest

from llm_sandbox.evaluation.extraction import extract_code

PROSE = "Here is the code.\n\n"
PROGRAM = "def f(x):\n    return x\n\nprint(f(1))"
THOUGHT = "<think>```python\nbad = 1\n```</think>\n"


@pytest.mark.parametrize(
    ("text", "language", "code", "kind"),
    [
        ("```python\nx = 1\n```", None, "x = 1\n", "fenced"),
        ("```py\nx = 1\n```\nand\n```\ny = 2\n```", "python", "x = 1\n", "fenced"),
        ("```py\nx = 1\n```\nand\n```\ny = 2\n```", None, "y = 2\n", "fenced"),
        ("```cpp\nint x;\n```\n```c++\nint y;\n```\n", "cpp", "int y;\n", "fenced"),
        ("~~~~js\nlet s = '```'\n~~~~", "javascript", "let s = '```'\n", "fenced"),
        ("````md\n```\nx\n```\n````", None, "```\nx\n```\n", "fenced"),
        ("```python\nx = 1\ny = ", "python", "x = 1\ny = \n", "incomplete_fenced"),
        (f"{THOUGHT}```python\nx = 1\n```", None, "x = 1\n", "fenced"),
        ("```python\nx = 1\n```\n```python\n\n```", None, "x = 1\n", "fenced"),
        (PROSE + PROGRAM, None, PROGRAM + "\n", "heuristic"),
        (f"{PROSE}x = 1\n\nThat is all there is.", None, "x = 1\n", "heuristic"),
        ("int main() { return 0; }", "cpp", "int main() { return 0; }\n", "heuristic"),
        ("", None, "", "empty"),
        ("  \n", "python", "", "empty"),
        ("no code here", None, "no code here\n", "heuristic"),
    ],
)  # fmt: skip
def test_code_is_found(text: str, language: str | None, code: str, kind: str) -> None:
    found = extract_code(text, language)
    assert (code, kind) == (found.code, found.kind)


def test_thoughts_are_read_when_asked_for() -> None:
    text = "```python\nx = 1\n```\n</think> no fence"
    assert "x = 1\n" == extract_code(text, after_think=False).code


@pytest.mark.parametrize(
    "text",
    ["(" * 100_000, "```\n" * 20_000, "x\n\n" * 20_000, "`" * 100_000, "~~~ a\n" * 20_000],
    ids=["nested", "fences", "paragraphs", "one fence", "tildes"],
)
def test_hostile_answers_come_to_an_end(text: str) -> None:
    assert extract_code(text) is not None
