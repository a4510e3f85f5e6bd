"""The lexical engine: every language without its grammar, and code that is broken."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_sandbox.security.lexical.engine import scan
from llm_sandbox.security.source import Source

SEEN = [
    ("python", "import os\nos.system('id')", "process.run", 2),
    ("python", "import os as o\no.system('id')", "process.run", 2),
    ("python", "import pickle\npickle.loads(x)", "deserialise", 2),
    ("python", "x = __import__(name)", "dynamic.unresolved", 1),
    ("python", "open('/etc/x', 'w')", "file.write", 1),
    ("python", "import os\nx = os.environ['A']", "environment", 2),
    ("python", "def broken(:\n    eval(x", "dynamic.code", 2),
    ("javascript", "const cp = require('child_process');\ncp.execSync('ls')", "process.run", 2),
    ("javascript", "console.log(process.env.HOME)", "environment", 1),
    ("javascript", "eval(x)", "dynamic.code", 1),
    ("javascript", "await fetch(u)", "network.web", 1),
    ("java", 'Runtime.getRuntime().exec("ls");', "process.run", 1),
    ("java", 'new ProcessBuilder("ls").start();', "process.run", 1),
    ("java", "Class.forName(name);", "dynamic.unresolved", 1),
    ("cpp", '#include <cstdlib>\nint main() { system("ls"); }', "process.run", 2),
    ("cpp", 'int main() { asm volatile("nop"); }', "native", 1),
    ("cpp", "int s = socket(AF_INET, SOCK_STREAM, 0);", "network.socket", 1),
    ("go", 'exec.Command("ls").Run()', "process.run", 1),
    ("go", 'net.Dial("tcp", "x:1")', "network.socket", 1),
    ("ruby", "x = `ls`", "process.run", 1),
    ("ruby", "Kernel.system 'ls'", "process.run", 1),
    ("ruby", "Marshal.load(x)", "deserialise", 1),
    ("bash", "curl http://example.org", "network.web", 1),
    ("bash", "echo x | sh", "dynamic.code", 1),
    ("bash", "cat /etc/shadow", "file.sensitive", 1),
    ("r", "system('id')", "process.run", 1),
    ("cobol", "DISPLAY '/etc/shadow'", "file.sensitive", 1),
]
NOTHING = [
    ("python", "import os\nprint(os.path.join('a', 'b'))  # os.system('id')\nx = 'eval(1)'"),
    ("python", "open('out.txt', 'w')\nself.system('x')\nmodel.eval\n"),
    (
        "javascript",
        "const path = require('path');\n// eval(x)\nconsole.log('child_process.exec()')",
    ),
    ("java", 'import java.util.List;\nString s = "Runtime.getRuntime()"; /* exec */'),
    ("cpp", '#include <vector>\n// system("ls")\nint main() { puts("system(1)"); }'),
    ("go", 'import "fmt"\nfunc main() { fmt.Println("exec.Command") }'),
    ("ruby", "puts 'system(1)' # `ls`\nitems.each { |system| puts system }"),
    ("bash", "grep -n curl notes.txt > out.txt\nrm -f build/x"),
]
LANGUAGES = ("bash", "cpp", "go", "java", "javascript", "python", "r", "ruby", "cobol")


@pytest.mark.parametrize(("lang", "code", "capability", "line"), SEEN)
def test_what_words_tell(lang: str, code: str, capability: str, line: int) -> None:
    found = scan(Source(code, lang))
    assert "lexical" == found.engine
    assert (capability, line) in {(str(s.capability), s.span.line) for s in found.findings}


@pytest.mark.parametrize(("lang", "code"), NOTHING)
def test_what_only_looks_like_it(lang: str, code: str) -> None:
    assert [] == scan(Source(code, lang)).findings


@pytest.mark.parametrize(
    ("lang", "code", "modules"),
    [
        ("python", "import os, sys as s\nfrom a.b import c", ["os", "sys", "a.b"]),
        ("javascript", "const a = require('x');\nimport b from \"y\";", ["x", "y"]),
        ("java", "import java.util.List;\nimport static a.B.c;", ["java.util.List", "a.B.c"]),
        ("cpp", '#include <vector>\n#include "a.h"', ["vector", "a.h"]),
        ("go", 'import (\n\t"fmt"\n\tx "net/http"\n)', ["fmt", "net/http"]),
        ("ruby", "require 'socket'\nrequire_relative \"a\"", ["socket", "a"]),
        ("bash", "source ./a.sh\n. b.sh", ["./a.sh", "b.sh"]),
        ("r", "library(dplyr)\nx <- httr::GET(u)", ["dplyr", "httr"]),
    ],
)
def test_modules(lang: str, code: str, modules: list[str]) -> None:
    assert modules == [module.name for module in scan(Source(code, lang)).modules]


WORDS = (
    "os . system ( ) ' \" = <- :: [[ ]] $ c( 1e9 : |> %>% paste0( function { } ` import eval( "
    "parse(text= get( strsplit( rev( sapply( - + letters [ ] , list( \udc80 \0"
)
ANY_CODE = st.lists(st.sampled_from([*WORDS.split(), " ", "\n"]), max_size=40).map("".join)


@settings(max_examples=200, deadline=None)
@given(code=ANY_CODE, lang=st.sampled_from(LANGUAGES))
def test_nothing_is_raised_and_the_answer_is_the_same(code: str, lang: str) -> None:
    source = Source(code, lang)
    assert scan(source) == scan(Source(code, lang))
    for seen in scan(source).findings:
        assert 1 <= seen.span.line <= seen.span.end_line <= source.last_line
