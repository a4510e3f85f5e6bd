"""Analysis of Java's source text: programs, names of files, comments, imports."""

from __future__ import annotations

import re
import time

import pytest

from llm_sandbox.language_handlers.java import JavaHandler

pytestmark = pytest.mark.timeout(30)

MAIN = "public static void main(String[] args) { }"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (f"class A {{ {MAIN} }}", "run-A/A.java"),
        (f"public class Main {{ {MAIN} }}", "run-Main/Main.java"),
        (f"class A {{ }} public class B {{ {MAIN} }}", "run-B/B.java"),
        (f"public class A {{ }} class B {{ {MAIN} }}", "run-B/A.java"),
        (f"package a.b;\nimport java.util.*;\npublic class C {{ {MAIN} }}", "run-a.b.C/C.java"),
        (f"public final class D {{ {MAIN} }}", "run-D/D.java"),
        (f'@Note({{"a", "b"}}) public class E {{ {MAIN} }}', "run-E/E.java"),
        (f"@interface N {{ }}\npublic @Deprecated class F {{ {MAIN} }}", "run-F/F.java"),
        (f"record R(int x) {{ {MAIN} }}", "run-R/R.java"),
        (f"enum E {{ A, B; {MAIN} }}", "run-E/E.java"),
        ("public interface I { static void main(String... a) { } } // x", "run-I/I.java"),
        (f"/* class X {{ */ // {{\nclass G {{ char c = '{{'; {MAIN} }}", "run-G/G.java"),
        (f'class T {{ String s = """\n }} " {{ \\""" {{\n"""; {MAIN} }}', "run-T/T.java"),
        (f"sealed interface S permits Q {{}} record Q() implements S {{ {MAIN} }}", "run-Q/Q.java"),
    ],
)
def test_programs(code: str, name: str) -> None:
    handler = JavaHandler()

    assert handler.is_program(code)
    assert name == handler.source_name(code)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "6 * 7",
        'System.out.println("class A { public static void main(String[] a) { } }");',
        "// class A { public static void main(String[] args) { } }",
        "class A { int x; }",
        "public static void main(String[] args) { }",
        f"class A {{ {MAIN} }}\nA.main(null);",
        f"int x = 1;\nclass A {{ {MAIN} }}",
        "class A { void main(String[] args) { } }",
        "import java.util.List;",
        "}} {{ (",
    ],
)
def test_pieces_for_the_shell(code: str) -> None:
    handler = JavaHandler()

    assert not handler.is_program(code)
    assert "main.jsh" == handler.source_name(code)


def test_steps_of_a_program() -> None:
    compiles, runs = JavaHandler().plan("/tmp/x/run-a.B/C.java", "/shim")

    assert compiles.compiles
    assert ("sh", "/shim/start.sh", "compile", "/tmp/x/run-a.B/C.java") == compiles.argv
    assert ("sh", "/shim/start.sh", "run", "/tmp/x/run-a.B/C.java", "a.B") == runs.argv


def test_steps_of_a_plain_file() -> None:
    *_, runs = JavaHandler().plan("/tmp/x/C.java", "/shim")

    assert "C" == runs.argv[-1]


def test_comments() -> None:
    code = (
        'String a = "// no /* comment */"; // yes\n'
        "int /* one\n two */ b = 'x' /* c */ / 2;\n"
        'String t = """\n // text /* block */ \\""" "\n""";\n'
        "char q = '\"'; // \"end\n"
        "/** doc */ int c;"
    )

    assert (
        'String a = "// no /* comment */"; \n'
        "int \n b = 'x'   / 2;\n"
        'String t = """\n // text /* block */ \\""" "\n""";\n'
        "char q = '\"'; \n"
        "  int c;"
    ) == JavaHandler().filter_comments(code)


@pytest.mark.parametrize(
    ("line", "module", "found"),
    [
        ("import java.util.List;", "java.util", True),
        ("  import static java.lang.Math.*;", "java.lang.Math", True),
        ("import java.utilities.X;", "java.util", False),
        ("import xjava.util.X;", "java.util", False),
        ("// import java.util.X;", "java.util", False),
        ("import a.java.util.X;", "java.util", False),
    ],
)
def test_imports(line: str, module: str, found: bool) -> None:
    pattern = JavaHandler().get_import_patterns(module)

    assert found == bool(re.search(pattern, line, re.MULTILINE))


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 200_000,
        '"' * 400_000,
        '"""' * 100_001,
        "'\\" * 200_000,
        "{(" * 200_000,
        " \t" * 200_000 + "x",
        "import " * 60_000,
        "public " * 60_000,
        "static " * 60_000,
        "class A { " + "static " * 60_000 + "}",
        "@a(" * 100_000,
        "@a " * 100_000,
        "package a" + " ." * 99_999,
        "package a" + " " * 199_999 + ";",
    ],
    ids=range(14),
)
def test_hostile_text_takes_no_long_time(text: str) -> None:
    handler = JavaHandler()
    started = time.process_time()
    handler.is_program(text)
    handler.source_name(text)
    handler.filter_comments(text)
    for pattern in (
        handler.get_multiline_comment_patterns(),
        handler.get_inline_comment_patterns(),
        handler.get_import_patterns("a.b"),
    ):
        re.findall(pattern, text, re.MULTILINE)

    assert time.process_time() - started < 10
