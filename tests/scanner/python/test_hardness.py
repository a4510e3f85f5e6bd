"""No text makes the engine raise, hang, or take more than its length deserves."""

from __future__ import annotations

import zlib
from base64 import b64encode

import pytest

from tests.scanner.python.seeing import capabilities

HEAD = "import os\nos.system('id')\n"
TEXTS = {
    "parentheses": "(" * 10_000,
    "signs": "x=" + "-" * 20_000 + "1",
    "not": "x=" + "not " * 10_000 + "1",
    "sum": "x=" + "+".join(['"a"'] * 5_000),
    "attributes": "x" + ".a" * 10_000,
    "calls": "x" + ".a()" * 3_000,
    "null": "\0" * 1_000,
    "surrogates": "x = '" + "\ud800" * 1_000 + "'",
    "quotes": '"' * 10_000,
    "backslashes": "\\\n" * 5_000,
    "large constants": 'x="a"*10**9\ny=9**9**9\nz="a".zfill(10**10)\nw="%1000000000d"%1',
    "doubling": 's="a"*1000\n' + "s=s+s\n" * 1_000 + "l=[1]\n" + "l=l+l\n" * 1_000,
    "endless loop": 's=""\nwhile True:\n  s+="a"\nexec(s)',
    "endless recursion": "def f(n):\n  return f(n-1)+f(n-2)\nexec(f(1000))",
    "large product": 'exec("".join(chr(a) for a in range(999) for b in range(999)))',
    "evaluations": 's="1"\n' + 's="eval(%r)" % s\n' * 12 + "eval(s)",
    "choices": 'x="a"\n' + 'if a: x=x+"b"\n' * 300,
    "unpacked bomb": "import zlib,base64\nexec(zlib.decompress(base64.b64decode('"
    + b64encode(zlib.compress(b"a" * 10_000_000)).decode()
    + "')))",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in TEXTS.items()])
def test_hard_text_ends_and_hides_nothing(text: str) -> None:
    assert "process.run" in capabilities(HEAD + text)
