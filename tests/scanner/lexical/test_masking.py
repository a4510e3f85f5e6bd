"""Masking: what is comment, string or code in each language, on any input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_sandbox.security.lexical.regions import mask

if TYPE_CHECKING:
    from llm_sandbox.security.models import PatternTarget

LANGUAGES = ("bash", "cpp", "go", "java", "javascript", "python", "r", "ruby", "typescript")
TARGETS: tuple[PatternTarget, ...] = ("all", "code", "strings")
PIECES = st.sampled_from(
    [
        *"\"'`/\\#${}()[]%<>~-=\n\r \tabqQfrR:;?*&|",
        '"""',
        "'''",
        "/*",
        "*/",
        "//",
        "<<EOF\n",
        "\nEOF\n",
        "${",
        "$(",
        "#{",
        "%w(",
        'R"x(',
        ')x"',
        'r"-(',
        'f"',
        "=begin\n",
        "\n=end",
        "__END__\n",
        "<<~A\n",
        "\nA\n",
        "$'",
        "\udc80",
        "\0",
        "é",
        "return /",
    ]
)
ANY_TEXT = st.lists(PIECES, max_size=40).map("".join)


@settings(max_examples=300, deadline=None)
@given(text=ANY_TEXT, lang=st.sampled_from(LANGUAGES), target=st.sampled_from(TARGETS))
def test_length_and_line_ends_are_kept(text: str, lang: str, target: PatternTarget) -> None:
    masked = mask(text, lang, target)
    assert len(masked) == len(text)
    assert [c for c in masked if c in "\r\n"] == [c for c in text if c in "\r\n"]
    assert all(new in {old, " "} for new, old in zip(masked, text, strict=True))


@settings(max_examples=300, deadline=None)
@given(text=ANY_TEXT, lang=st.sampled_from(LANGUAGES))
def test_without_comments_nothing_more_is_masked(text: str, lang: str) -> None:
    once = mask(text, lang, "all")
    assert mask(once, lang, "all") == once


@settings(max_examples=300, deadline=None)
@given(text=ANY_TEXT, lang=st.sampled_from(LANGUAGES))
def test_code_and_strings_share_nothing(text: str, lang: str) -> None:
    code, strings = mask(text, lang, "code"), mask(text, lang, "strings")
    both = mask(text, lang, "all")
    for one, other, whole in zip(code, strings, both, strict=True):
        assert " " in {one, other} or one in "\r\n"
        if whole != " ":
            assert whole in {one, other}


@settings(max_examples=100, deadline=None)
@given(text=ANY_TEXT, target=st.sampled_from(TARGETS))
def test_of_an_unknown_language_nothing_is_masked(text: str, target: PatternTarget) -> None:
    assert mask(text, "cobol", target) == text


CASES = {
    "python": (
        'x = "a#b" # c\ny = f"v {d["k"]!r:>{w}} {{z}}"\ns = \'\'\'q "r"\'\'\'; t = rb"\\""',
        'x = "   "    \ny = f"  {d[" "]!r: {w}}      "\ns = \'\'\'     \'\'\'; t = rb"  "',
    ),
    "python_continued": ('x = "a\\\nb"; y = 1', 'x = " \\\n "; y = 1'),
    "python_unclosed": ('x = "abc\nimport os # c', 'x = "   \nimport os    '),
    "javascript": (
        'a = b / c; r = /x[/"]\\/y/g.test(\'s\'); // c\nt = `u ${ f({k: "v"}) + `w` } z`;',
        "a = b / c; r = /        /g.test(' ');     \nt = `  ${ f({k: \" \"}) + ` ` }  `;",
    ),
    "javascript_comment": ("f(1) /* a */ / 2; return /b/", "f(1)         / 2; return / /"),
    "typescript": ("let s: string = 'a' // b", "let s: string = ' '     "),
    "java": (
        'String s = "a\\"b"; char c = \'"\'; /* d\n */ t = """\n e "f"\n """;',
        'String s = "    "; char c = \' \';     \n    t = """\n      \n """;',
    ),
    "cpp": (
        '#include <a>\nauto s = R"x(a)" b)x"; int n = 1\'000; // c \\\n d\nf(L\'"\');',
        "#include <a>\nauto s = R\"x(     )x\"; int n = 1'000;       \n  \nf(L' ');",
    ),
    "go": ('s := `a "b" // c` // d\nr := \'"\'', "s := `          `     \nr := ' '"),
    "ruby": (
        'puts %w(a (b) c), x % y, "d#{f("e")}g" # h\n=begin\ni\n=end\nj / k / l; m =~ /n"/',
        'puts %w(       ), x % y, " #{f(" ")} "    \n      \n \n    \nj / k / l; m =~ /  /',
    ),
    "ruby_heredoc": (
        'f(<<~A, <<-\'B\')\n  a #{b("c")}\nA\n  #{d}\n  B\nputs ?a, :"e"\n__END__\nrest',
        'f(<<~A, <<-\'B\')\n    #{b(" ")}\nA\n      \n  B\nputs ? , :" "\n__END__\n    ',
    ),
    "ruby_shift": ("a <<B\nsystem(1)\n", "a <<B\nsystem(1)\n"),
    "r": (
        "x <- r\"--(a)\" b)--\" # c\n`d e` <- 'f\\'g'; h %in% i; 5 %% 2",
        "x <- r\"--(     )--\"    \n`d e` <- '    '; h %in% i; 5 %% 2",
    ),
    "bash": (
        'echo "a $(ls "b" \'c\') ${d:-"e"}" # f\necho $# ${#g} h#i $\'j\\\'k\' <<< "l"',
        'echo "  $(ls " " \' \') ${d:-" "}"    \necho $# ${#g} h#i $\'    \' <<< " "',
    ),
    "bash_heredoc": (
        "cat <<A <<-'B'\na $(c \"d\")\nA\n\t$(e)\n\tB\nf",
        "cat <<A <<-'B'\n  $(c \" \")\nA\n     \n\tB\nf",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_code_of_each_language(name: str) -> None:
    text, code = CASES[name]
    assert code == mask(text, name.partition("_")[0], "code")


def test_strings_are_what_is_left() -> None:
    text = "f(\"a # b\") # c\ng('d')"
    assert "   a # b      \n   d  " == mask(text, "python", "strings")


def test_a_comment_is_no_code_and_a_string_may_look_like_one() -> None:
    assert "system" not in mask('x = 1 # system("id")', "python", "all")
    assert "system" not in mask('x = "system(1)"', "python", "code")
    assert "system" in mask('x = "system(1)"', "python", "all")
    assert "system" in mask('x = f"{system(1)}"', "python", "code")
    assert "system" in mask('x = "$(system 1)"', "bash", "code")
    assert "system" in mask('x = "#{system 1}"', "ruby", "code")
    assert "system" in mask("x = `${system(1)}`", "javascript", "code")


HARD = ['"', 'f"{', "`${", "/[(", "#{", "<<A\n", "<<EOF\n A\n", "(", "$(", '"$(', "%w(", "/*"]
HARD += ["=begin\n", 'R"(', "r'(", "\\", "a ", '"${', 'f"{x:{', "\n<<~A", "%q[", "/ ", "(/", "x /"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_long_hard_text_is_masked_to_its_end(lang: str) -> None:
    """Were it not linear, the time limit of the test would not do."""
    for piece in HARD:
        text = piece * (60_000 // len(piece))
        assert len(text) == len(mask(text, lang, "code")), piece
