"""Go source as text."""

from __future__ import annotations

import re
import time

import pytest

from llm_sandbox.language_handlers.go import GoHandler

HANDLER = GoHandler()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a := 1 // gone\nb := 2", "a := 1 \nb := 2"),
        ("a/* gone */b", "a b"),
        ("a /* one\ntwo */ b", "a \n b"),
        ('s := "// stays /* stays */"', 's := "// stays /* stays */"'),
        (r's := "\" // stays" // gone', r's := "\" // stays" '),
        ("s := `// stays\n\\` // gone", "s := `// stays\n\\` "),
        ('s := `"` // gone', 's := `"` '),
        ("r := '\"' // gone", "r := '\"' "),
        (r"r := '\'' // gone", r"r := '\'' "),
        ("r := '`' // gone `", "r := '`' "),
        ("r := '/' /* gone */", "r := '/'  "),
        ("a / b // gone", "a / b "),
        ("open /* to the end", "open  "),
        ('"open // stays\nb // gone', '"open // stays\nb '),
    ],
)
def test_comments(code: str, expected: str) -> None:
    assert expected == HANDLER.filter_comments(code)


@pytest.mark.parametrize(
    ("module", "code", "is_found"),
    [
        ("os", 'import "os"', True),
        ("os", "import `os`", True),
        ("os", 'import sys "os"', True),
        ("os", 'import . "os"', True),
        ("os", 'import _"os"', True),
        ("os", 'package main; import "os"', True),
        ("os", 'import (\n\t"fmt"\n\t"os"\n)', True),
        ("os", 'import ("fmt"; "os")', True),
        ("os", 'import (\n\t"fmt" // a (note)\n\tsys "os" // more\n)', True),
        ("os", 'import "os/exec"', True),
        ("os/exec", 'import "os/exec"', True),
        ("github.com/a/b", 'import b "github.com/a/b/v2"', True),
        ("os", 'import "oss"', False),
        ("os", 'import "fmt"\nfunc f() { g("os") }', False),
        ("exec", 'import "os/exec"', False),
        ("os/exec", 'import "os"', False),
        ("os", 'import (\n\t"fmt"\n)\nvar x = f("os")', False),
    ],
)
def test_imports(module: str, code: str, is_found: bool) -> None:
    found = re.search(HANDLER.get_import_patterns(module), code, re.MULTILINE)

    assert (found is not None) == is_found


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["/*", "//", '"', "'", "`", "import (", 'import "', "import(", ";", " \t", "a;", "\n(", "a"],
)
def test_hostile_source_takes_no_longer(piece: str) -> None:
    """The time grows with the length alone."""
    code = piece * (200_000 // len(piece))
    started = time.process_time()
    HANDLER.filter_comments(code)
    re.search(HANDLER.get_import_patterns("os"), code, re.MULTILINE)
    for pattern in (
        HANDLER.get_multiline_comment_patterns(),
        HANDLER.get_inline_comment_patterns(),
    ):
        re.sub(pattern, "", code)

    assert time.process_time() - started < 5
