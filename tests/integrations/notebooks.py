"""Notebooks as people write them: each a list of cells."""

NOTEBOOKS: dict[str, list[str]] = {
    "arithmetic": ["x = 6", "x * 7", "_ + 1", "x, x ** 2, [x] * 3"],
    "printing": ["print('one')\nprint('two', end='')", "import sys\nprint('bad', file=sys.stderr)"],
    "unicode": ["print('héllo ✓ 日本 🎉')", "{'ключ': 'значение'}"],
    "functions": [
        "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)",
        "[fib(n) for n in range(15)]",
        "from functools import cache\nfib = cache(fib)\nfib(200)",
    ],
    "classes": [
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n    y: int = 0",
        "Point(1)",
        "class Loud(Point):\n    def _repr_html_(self):\n        return '<b>3</b>'\nLoud(3)",
    ],
    "frames": [
        "import pandas as pd\nframe = pd.DataFrame({'a': [1, 2, 3], 'b': list('xyz')})\nframe",
        "frame.describe()",
        "frame.groupby('b').sum()",
        "frame['a'].plot.bar();",
    ],
    "arrays": [
        "import numpy as np\nnp.arange(12).reshape(3, 4)",
        "np.linalg.inv(np.array([[2.0, 1.0], [1.0, 3.0]])).round(6)",
    ],
    "figures": [
        "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.title('squares')\nplt.show()",
        "figure, axes = plt.subplots(1, 2)\naxes[0].hist([1, 1, 2])\naxes[1].plot([1, 2])",
    ],
    "displays": [
        "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<i>i</i>'), 1)",
        "Markdown('# title')",
        "handle = display('before', display_id='d')\nhandle.update('after')",
    ],
    "magics": ["%pwd\n1", "%%time\nsum(range(10))", "%who_ls"],
    "async": [
        "import asyncio\nasync def wait(n):\n    await asyncio.sleep(0.01)\n    return n",
        "await asyncio.gather(*(wait(n) for n in range(4)))",
    ],
    "long_output": ["for n in range(3000):\n    print('line', n)", "'x' * 20_000"],
    "exception": ["def f(x):\n    return 1 / x", "f(0)", "print('not reached')"],
    "caught": ["try:\n    {}['a']\nexcept KeyError as error:\n    print('caught', error)"],
    "files": [
        "from pathlib import Path\nPath('note.txt').write_text('kept')",
        "Path('note.txt').read_text()",
    ],
    "subprocess": ["import subprocess\nsubprocess.run(['echo', 'hi'], capture_output=True).stdout"],
    "warnings": ["import warnings\nwarnings.warn('careful')", "'after'"],
    "randomness": ["import random\nrandom.seed(1)\n[random.randint(1, 6) for _ in range(8)]"],
}
"""Name to cells. None of them depends on where it runs."""
