"""Expressions that try to make their reader work: huge ranges, nested, repeated, decoded.

Each is read in this process, which gives itself little memory, and a few seconds of processor time
for each: `python -m tests.scanner.folding_fuzz SEED COUNT LOG` is killed by the kernel at the first
expression that takes more, and LOG then holds it.
"""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from llm_sandbox.security.python.engine import scan
from llm_sandbox.security.python.full_names import names
from llm_sandbox.security.source import Source

MEMORY = 1 << 30
SECONDS = 4.0

NUMBERS = st.sampled_from(
    ["0", "1", "-1", "7", "255", "4096", "10**5", "10**9", "10**15", "2**60", "-10**8", "1e308"]
)
TEXTS = st.sampled_from(
    [
        "''",
        "'a'",
        "'a'*10**5",
        "b'a'*10**6",
        "'%s%09d%(a)9999d'",
        "'{:{}}{0!r:>9999}'",
        "'\\t'*1000",
        "'YWJj'*1000",
        "'[[1],[2]]'",
        "'\\u00e9' * 1000",
    ]
)
UNARY = names(
    """
    sum set frozenset sorted list tuple max min all any len dict bytes str repr ascii bool int
    float chr ord reversed enumerate iter next range abs hex bin round dict.fromkeys bytearray
    zip hash itertools.chain itertools.chain.from_iterable collections.Counter json.dumps
    json.loads ast.literal_eval textwrap.dedent base64.b64decode base64.a85decode
    base64.b85encode zlib.compress zlib.decompress html.unescape urllib.parse.unquote
    urllib.parse.quote codecs.decode codecs.encode binascii.unhexlify quopri.decodestring eval
    exec compile int.from_bytes
    """
)
BINARY = names(
    """
    divmod pow round zip map filter format max min range enumerate sum int str bytes
    dict.fromkeys itertools.repeat itertools.islice itertools.compress itertools.zip_longest
    itertools.accumulate functools.reduce operator.mod operator.floordiv operator.contains
    operator.indexOf operator.concat struct.pack struct.unpack str.join str.rjust str.maketrans
    codecs.decode codecs.encode re.sub int.to_bytes
    """
)
METHODS = names(
    """
    join replace format center ljust zfill expandtabs split rsplit rfind rindex count strip
    translate encode decode partition index to_bytes __mul__ __mod__ __getitem__ __contains__
    hex title splitlines startswith format_map __format__ append extend insert pop copy get
    items update
    """
)
OPERATORS = names(
    """
    + - * / // % ** << >> & | ^ < == in
    """
)
IMPORTS = (
    "import ast, base64, binascii, codecs, collections, functools, html, itertools, json, "
    "logging.config, operator, quopri, re, struct, textwrap, urllib.parse, zlib\n"
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    one_of = st.sampled_from
    return st.one_of(
        st.builds("{}({})".format, one_of(UNARY), inner),
        st.builds("{}({}, {})".format, one_of(BINARY), inner, inner),
        st.builds("({}).{}({})".format, inner, one_of(METHODS), inner),
        st.builds("({}).{}({}, {})".format, inner, one_of(METHODS), inner, inner),
        st.builds("({} {} {})".format, inner, one_of(OPERATORS), inner),
        st.builds("[{0}, {0}, {0}]".format, inner),
        st.builds("[*{0}, *{0}]".format, inner),
        st.builds("{{{}: {}}}".format, inner, inner),
        st.builds("{{**{0}, **{0}}}".format, inner),
        st.builds("({})[{}:{}]".format, inner, NUMBERS, NUMBERS),
        st.builds("({})[{}]".format, inner, inner),
        st.builds("[{} for i in {} for j in {}]".format, inner, inner, inner),
        st.builds("{{i: {} for i in {}}}".format, inner, inner),
        st.builds("(lambda x=0, y=0: {})({})".format, inner, inner),
        st.builds("f'{{{}!r:>{{{}}}}}'".format, one_of(["x", "i"]), one_of(["y", "9999"])),
        st.builds("({} if {} else {})".format, inner, inner, inner),
    )


EXPRESSIONS = st.recursive(
    st.one_of(NUMBERS, TEXTS, st.builds("range({})".format, NUMBERS), st.sampled_from("xyij")),
    _grown,
    max_leaves=6,
)
REPEATED = st.sampled_from(
    [
        "x = [x, x]",
        "x = (x,) * 9",
        "x = x + x",
        "x = f'{x}{x}'",
        "x = '%s%s' % (x, x)",
        "x = {1: x, 2: x}",
        "x = [*x, *x]",
        "x[0:0] = x",
        "x = str(x) + repr(x)",
        "x.append(x)",
        "for i in range(10**6):\n    x += x",
        "while x:\n    x = [x]",
        "logging.config.dictConfig(x)",
    ]
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program of a few statements, some of them many times."""
    lines = [IMPORTS + f"x = {draw(EXPRESSIONS)}", f"y = {draw(EXPRESSIONS)}"]
    if draw(st.booleans()):
        lines += [draw(REPEATED)] * draw(st.sampled_from([1, 20, 60]))
    lines += [draw(st.sampled_from(["exec(x)", "print(x, y)", "open(str(x))", "y(x)"]))]
    return "\n".join(lines)


def main(number: int, count: int, log: Path) -> None:
    """Read `count` programs, or be killed."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    done: set[str] = set()
    read = 0

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs())
    def one(text: str) -> None:
        nonlocal read
        log.write_text(text, encoding="utf-8")
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            output = scan(Source(text, "python"))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        assert output.engine == "ast"
        read += 1
        done.add(text)

    one()
    print(read, len(done))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
