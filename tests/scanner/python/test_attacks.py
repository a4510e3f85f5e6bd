"""Ways to the same act: each program of `attacks.txt` is seen for what it does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.scanner.python.seeing import blocking, capabilities

_HEAD = re.compile(r"^=== (\S+) \[([\w.]+)\]\n", re.MULTILINE)


def attacks() -> list[tuple[str, str, str]]:
    parts = _HEAD.split((Path(__file__).parent / "attacks.txt").read_text(encoding="utf-8"))[1:]
    return list(zip(parts[::3], parts[1::3], parts[2::3], strict=True))


@pytest.mark.parametrize(
    ("capability", "code"), [pytest.param(c, code, id=name) for name, c, code in attacks()]
)
def test_attack_is_seen(capability: str, code: str) -> None:
    assert capability in capabilities(code, None)


def test_there_are_many_ways() -> None:
    assert len(attacks()) >= 280


# The same shapes around something harmless.
TWINS = {
    "attribute": "import os\nprint(os.path.join('a', 'b'), os.sep, os.getcwd())",
    "import only": "import os, subprocess, socket, ctypes, pickle\n",
    "getattr": "import math\nprint(getattr(math, 'sq' + 'rt')(2))",
    "getattr of an object": "def f(o, name):\n    return getattr(o, name)\n",
    "dunder import": "__import__('math').sqrt(2)",
    "folded import": "__import__('ma' + 'th').sqrt(2)",
    "module from a function": "def g():\n    import math\n    return math\ng().sqrt(4)",
    "module argument": "import math\ndef f(m):\n    return m.sqrt(2)\nf(math)",
    "import by a function": "import importlib\ndef load(n):\n"
    "    return importlib.import_module(n)\nload('json')",
    "partial": "from functools import partial\npartial(print, 'a')()",
    "map": "list(map(len, ['a']))",
    "thread": "import threading\nthreading.Thread(target=print, args=('a',)).start()",
    "class": "import math\nclass A:\n    m = math\n    def go(self):\n"
    "        return self.m.sqrt(2)\nA().go()",
    "globals": "x = 1\nprint(globals()['x'])",
    "own name": "def system(x):\n    return x\nsystem('id')",
    "own method": "class A:\n    def system(self, x):\n        return x\nA().system('id')",
    "compiled pattern": "import re\nre.compile('a').match('b')",
    "model": "model.compile(optimizer='adam')\nmodel.eval()\nmodel.fit(x)",
    "frame": "df.eval('a + b')\ndf.query('a > @limit')",
    "literal": "import ast\nast.literal_eval('[1, 2]')",
    "relative file": "open('out.txt', 'w').write('a')\nopen('/tmp/x', 'w')",
    "reading": "import pandas as pd\npd.read_csv('file.csv')\nopen('/data/x.csv').read()",
    "arrays": "import numpy as np\nnp.load('x.npy')\nnp.zeros((100, 100))",
    "figures": "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('a.png')\nplt.show()",
    "timed function": "import timeit\ntimeit.timeit(lambda: 1, number=3)",
    "yaml": "import yaml\nyaml.safe_load('a')\nyaml.load('a', Loader=yaml.SafeLoader)",
    "dumped": "import pickle\npickle.dumps([1])",
    "annotation": "import subprocess\ndef f(p: subprocess.Popen) -> None: ...",
    "exception": "import subprocess\ntry:\n    pass\n"
    "except subprocess.CalledProcessError:\n    pass",
    "type check": "import subprocess\nisinstance(1, subprocess.Popen)",
    "comment": "# os.system('id') /etc/shadow\nx = 1",
    "docstring": "'''Reads /etc/shadow with os.system.'''\nx = 1",
    "similar name": "import osmnx\nosmnx.system('a')",
    "relative import": "from .os import system\nsystem('a')",
    "bomb not folded": "x = 'a' * 100",
    "logging": "import logging\nlogging.basicConfig(level=logging.INFO)\nlogging.info('x')",
    "arguments": "import argparse, sys\nargparse.ArgumentParser().parse_args(sys.argv[1:])",
    "search path": "import sys\nsys.path.append('.')",
    "slots": "class A:\n    __slots__ = ('a',)\n    def f(self):\n"
    "        return self.__class__, self.__dict__",
    "signature": "import inspect\ninspect.signature(print)",
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 0",
    "decorator": "import functools\ndef d(f):\n    @functools.wraps(f)\n"
    "    def g(*a, **k):\n        return f(*a, **k)\n    return g\n@d\ndef h(): ...",
    "platform": "import platform\nprint(platform.system())",
    "base64": "import base64\nprint(base64.b64decode('aGVsbG8='))",
}  # fmt: skip


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in TWINS.items()])
def test_harmless_twin_is_not(code: str) -> None:
    assert blocking(code, None) == set()
