"""C++ source as text."""

from __future__ import annotations

import re
import time

import pytest

from llm_sandbox.language_handlers.cpp import CppHandler

HANDLER = CppHandler()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("int a; // gone\nint b;", "int a; \nint b;"),
        ("int/* gone */a;", "int a;"),
        ("a /* one\ntwo */ b", "a \n b"),
        ("// gone \\\ngone too\nleft", "\n\nleft"),
        ('auto s = "// stays /* stays */";', 'auto s = "// stays /* stays */";'),
        (r'auto s = "\" // stays"; // gone', r'auto s = "\" // stays"; '),
        ("char c = '\"'; // gone", "char c = '\"'; "),
        (r"char c = '\''; // gone", r"char c = '\''; "),
        ("long n = 1'000'000; // gone", "long n = 1'000'000; "),
        ("int n = 0x1'F; char c = '/'; // gone", "int n = 0x1'F; char c = '/'; "),
        ('auto s = R"(a " // stays)"; // gone', 'auto s = R"(a " // stays)"; '),
        ('auto s = u8R"x(/* )" )x"; // gone', 'auto s = u8R"x(/* )" )x"; '),
        ('auto s = LR"(one\n// stays\n)";', 'auto s = LR"(one\n// stays\n)";'),
        ('myR"(x" // gone', 'myR"(x" '),
        ("a / b / c", "a / b / c"),
        ("open /* to the end", "open  "),
        ('"open // gone\nint a; // gone', '"open // gone\nint a; '),
    ],
)
def test_comments(code: str, expected: str) -> None:
    assert expected == HANDLER.filter_comments(code)


@pytest.mark.parametrize(
    ("module", "code", "is_found"),
    [
        ("vector", "#include <vector>", True),
        ("vector", "int a;\n  #  include\t<vector>", True),
        ("vector", "%:include <vector>", True),
        ("vector", "#include \\\n <vector>", True),
        ("vector", "import <vector>;", True),
        ("std", "import std;", True),
        ("std", "export import std.compat;", True),
        ("sqlite3", '#include "sqlite3.h"', True),
        ("boost", "#include <boost/asio.hpp>", True),
        ("boost/asio", "#include <boost/asio.hpp>", True),
        ("sys/socket.h", "#include <sys/socket.h>", True),
        ("vector", "#include <vectors>", False),
        ("vector", "#include <ext/vector>", False),
        ("vector", "std::vector<int> v; // include <vector>", False),
        ("regex", "#include <c++regex>", False),
        ("c++", "#include <cxx>", False),
    ],
)
def test_imports(module: str, code: str, is_found: bool) -> None:
    found = re.search(HANDLER.get_import_patterns(module), code, re.MULTILINE)

    assert (found is not None) == is_found


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["/*", "//", '"', "'", 'R"(', 'R"a(', "#include", "# ", "\\\n", "import ", "1'", "/* *", "u8"],
)
def test_hostile_source_takes_no_longer(piece: str) -> None:
    """The time grows with the length alone."""
    code = piece * (200_000 // len(piece))
    started = time.process_time()
    HANDLER.filter_comments(code)
    re.search(HANDLER.get_import_patterns("vector"), code, re.MULTILINE)
    for pattern in (
        HANDLER.get_multiline_comment_patterns(),
        HANDLER.get_inline_comment_patterns(),
    ):
        re.sub(pattern, "", code)

    assert time.process_time() - started < 5
