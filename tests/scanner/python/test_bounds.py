"""No expression is worked out before it is known to be small."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from llm_sandbox.security import scan
from llm_sandbox.security.python.folding import UNKNOWN, fold_call, length_of_range, weight
from llm_sandbox.security.python.pure import FUNCTIONS
from tests.scanner.folding_fuzz import MEMORY

pytestmark = pytest.mark.slow

CASES = 1_000
BATCHES = 2
LIMITED = f"""
import resource, signal, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
from pathlib import Path
from llm_sandbox.security.python.engine import scan
from llm_sandbox.security.source import Source
for path in sys.argv[1:]:
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    print(path, scan(Source(text, "python")).abandoned, flush=True)
"""

PROGRAMS = {
    "sum": "x = sum(range(10**15))",
    "set": "set(range(2**60))",
    "fromkeys": "dict.fromkeys(range(10**12))",
    "sorted": "sorted(range(5*10**7))",
    "tuple": "tuple(range(10**12))",
    "max": "max(range(10**13))",
    "all": "all(range(1, 10**12))",
    "join": "''.join(range(10**12))",
    "contains": "x = [1 for i in (1,) if 'a' in range(10**13)]\nprint(x)",
    "index": "range(10**13).index('a')",
    "islice": "import itertools\nitertools.islice(range(10**12), 10**11, None)",
    "columns": "zip(*[range(10**9) for i in range(2000)])",
    "longer than len": "for i in range(2**100): x = i",
    "round": "round(5, -10**8)",
    "power": f"pow(3, 0x{'f' * 20_000}, 0x{'e' * 20_000})",
    "division": f"x = 0x{'f' * 400_000} // 0x{'e' * 200_000}",
    "width by name": "'%(a)9999d' * 10_000 % {'a': 1}",
    "width by value": "'{:{}}'.format('x', 10**9)",
    "width by star": "'%*d' % (10**9, 1)",
    "fields": "'%(a)s' * 20_000 % {'a': 'x' * 900_000}",
    "template": "import string\nstring.Template('$a' * 9999).substitute({'a': 'x' * 900_000})",
    "to_bytes": "int.to_bytes(1, length=10**10)\n(1).to_bytes(length=10**10, byteorder='big')",
    "tabs": "('\\t' * 100_000).expandtabs(100_000)\n'\\t'.expandtabs(tabsize=10**9)",
    "translate": "('x' * 100_000).translate({120: 'y' * 900_000})",
    "search from the end": "('a' * 900_000).rfind('b' + 'a' * 400_000)",
    "strip": "('a' * 900_000).strip('b' * 900_000 + 'a')",
    "punycode": "b'".ljust(3) + "a-" * 50_000 + "'.decode('punycode')",
    "indent": "import json\njson.dumps([[1]] * 900, indent=10**9)",
    "literal": "import ast\nast.literal_eval('[' * 90_000)",
    "dedent": "import textwrap\ntextwrap.dedent(' ' * 900_000 + 'x')",
    "quotes": "import base64\nbase64.a85decode(b'z' * 900_000, ignorechars=b'x' * 900_000)",
    "collisions": f"set({[n * (2**61 - 1) for n in range(30_000)]})",
    "lists of lists": "x = ['a']\n" + "x = [x, x]\n" * 60 + "eval(x)\nstr(x)\nx == x\nhash(x)",
    "wide lists": "x = [1]\n" + "x = [x, x, x, x, x, x, x, x, x, x]\n" * 11 + "repr(x)",
    "tables": "x = {}\n" + "x = {1: x, 2: x}\n" * 60 + "str(x)",
    "configuration": "import logging.config\nx = {'()': 'os.getcwd'}\n"
    + "x = [x, x]\n" * 60
    + "logging.config.dictConfig(x)",
    "own member": "x = [1]\nx.append(x)\nx.append(x)\nstr(x)\nx == x",
    "texts": "x = 'ab'\n" + "x = f'{x}{x}'\n" * 60 + "y = 'ab'\n" + "y = '%s%s' % (y, y)\n" * 60,
    "slices": "x = [1]\n" + "x[0:0] = x\n" * 60,
    "spread": "x = [1, 2]\n" + "x = [*x, *x]\n" * 60,
    "long texts": "x = 'a' * 900_000\n" + "y = x + 'b'\n" * 5_000,
    "files": "f = open('a.py', 'w')\n" + "f.write('ab' + open('a.py').read())\n" * 60,
    "large body": f"x = [[{'i,' * 5_000}] for i in range(2_000) for j in range(2_000)]\nexec(x)",
}
HEAD = "import os\nos.system('id')\n"


@pytest.fixture
def limited(tmp_path):
    """Read texts in a process with little memory and 20 seconds of processor time for all."""

    def read(*texts):
        paths = []
        for number, text in enumerate(texts):
            paths.append(tmp_path / f"{number}.py")
            paths[-1].write_text(text, encoding="utf-8")
        return subprocess.run(
            [sys.executable, "-c", LIMITED, *map(str, paths)],
            capture_output=True,
            text=True,
            timeout=110,
        )

    return read


@pytest.mark.sampled
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in PROGRAMS.items()])
def test_large_work_is_not_begun(limited, text):
    done = limited(HEAD + text)
    assert 0 == done.returncode, done.stderr[-1000:]
    assert "0.py" in done.stdout


@pytest.mark.parametrize("text", [PROGRAMS["sum"], PROGRAMS["lists of lists"]])
def test_what_is_not_worked_out_hides_nothing(text):
    report = scan(HEAD + text, policy="production")
    assert report.read
    assert "process.run" in {finding.category for finding in report.findings}


def test_the_limit_ends_what_is_not_bounded():
    """The control: the same process is killed where a sum is worked out."""
    hog = LIMITED.partition("for path")[0].replace("(20, 20)", "(3, 3)") + "sum(range(10**15))"
    done = subprocess.run([sys.executable, "-c", hog], capture_output=True, timeout=110)
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


@pytest.mark.parametrize("part", ["test_[a-d]*", "test_[e-l]*", "test_[m-r]*", "test_[s-z]*"])
def test_the_tests_of_python_itself_are_read(part):
    folder = Path(sysconfig.get_path("stdlib")) / "test"
    files = sorted(folder.glob(f"{part}.py"))
    if not files:
        pytest.skip(f"this Python has no tests of its own in {folder}")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    # Every third: they are much alike, and take half a minute.
    late = [path.name for path in files[::3] if not scan_file(path)]
    assert [] == late
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime >= before


def scan_file(path):
    return scan(path.read_text(encoding="utf-8", errors="replace"), notebook=False).read


@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_expression_takes_more_than_its_length_deserves(batch, tmp_path):
    """1,000 of them, the same each time; `tests.scanner.folding_fuzz` reads any number."""
    log = tmp_path / "case.py"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.scanner.folding_fuzz",
            *(str(batch), str(CASES // BATCHES), log),
        ],
        capture_output=True,
        text=True,
        timeout=115,
        cwd=Path(__file__).parents[3],
    )
    assert 0 == done.returncode, f"{done.stderr[-2000:]}\nthe last case:\n{log.read_text()}"
    read, distinct = map(int, done.stdout.split())
    assert read >= CASES // BATCHES
    assert distinct > 0.9 * CASES // BATCHES


def test_a_range_is_counted_without_going_through_it():
    assert 2**100 == length_of_range(range(2**100))
    assert [4, 4, 0] == [length_of_range(r) for r in (range(0, 8, 2), range(8, 0, -2), range(0))]
    assert weight(range(10**15)) > 10**15
    assert 0 == weight(range(10**15), lazy=True)


def test_members_count_as_often_as_they_are_repeated():
    row = ["abc"]
    assert 2 * weight(row) + 20 == weight([row, row])
    for _ in range(100):
        row = [row, row]
    assert weight(row, 1_000) < 10_000


def test_small_work_is_done():
    fold = {name.removeprefix("builtins."): work for name, work in FUNCTIONS.items()}
    assert 4950 == fold_call(fold["sum"], [range(100)], {})
    assert (0, 1, 2) == fold_call(fold["tuple"], [range(3)], {})
    assert 10**9 == fold_call(fold["len"], [range(10**9)], {}, lazy=True)
    assert fold_call(fold["tuple"], [range(10**9)], {}) is UNKNOWN


def test_no_memory_is_no_constant():
    def greedy():
        raise MemoryError

    with pytest.raises(MemoryError):
        fold_call(greedy, [], {})


def test_what_is_held_twice_is_followed_once(limited):
    """Files of Python's own tests did this innocently, and took minutes and gigabytes."""
    text = "import os\nx = {}\n" + "y = f(x, os)\nx = g(y, x, y)\nx.run(y, os.system)\n" * 40
    done = limited(text)
    assert 0 == done.returncode, done.stderr[-1000:]
    assert scan(text, policy="production").read
