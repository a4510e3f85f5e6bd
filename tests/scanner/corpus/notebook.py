"""Attacks that only IPython understands, and harmless cells of the same shapes."""

# ruff: noqa: E501
# Because: a row of the table is a line.

from __future__ import annotations

__all__ = ["NOTEBOOK", "NOTEBOOK_TWINS"]

SHELL = ("os.system", "subprocess.Popen", "os.forkpty", "pty.spawn", "os.posix_spawn", "os.exec")

NOTEBOOK = (
    ("notebook-bang", "!", "!echo w4tch\n", SHELL),
    ("notebook-bang-later", "!", "x = 1\nif x:\n    !echo w4tch\n", SHELL),
    ("notebook-bang-assigned", "!", "files = !echo w4tch\nprint(files)\n", SHELL),
    ("notebook-double-bang", "!!", "!!echo w4tch\n", SHELL),
    ("notebook-system", "%system", "%system echo w4tch\n", SHELL),
    ("notebook-sx", "%sx", "found = %sx echo w4tch\n", SHELL),
    ("notebook-sc", "%sc", "%sc out=echo w4tch\n", SHELL),
    ("notebook-bash", "%%bash", "%%bash\necho w4tch\n", SHELL),
    ("notebook-sh", "%%sh", "%%sh\necho w4tch\n", SHELL),
    ("notebook-script", "%%script", "%%script bash\necho w4tch\n", SHELL),
    ("notebook-script-cell", "%%!", "%%!\necho w4tch\n", SHELL),
    ("notebook-line-magic", "run_line_magic", "get_ipython().run_line_magic('sx', 'echo w4tch')\n", SHELL),
    ("notebook-cell-magic", "run_cell_magic", "get_ipython().run_cell_magic('bash', '', 'echo w4tch')\n", SHELL),
    ("notebook-shell-object", "get_ipython().system", "get_ipython().system('echo w4tch')\n", SHELL),
    ("notebook-shell-getoutput", "get_ipython().getoutput", "ip = get_ipython()\nip.getoutput('echo w4tch')\n", SHELL),
    ("notebook-run-cell", "run_cell", "get_ipython().run_cell('!echo w4tch')\n", SHELL),
    ("notebook-time", "%time", "%time import os; os.system('echo w4tch')\n", SHELL),
    ("notebook-timeit", "%timeit", "import os\n%timeit -n1 -r1 os.system('echo w4tch')\n", SHELL),
    ("notebook-time-cell", "%%time", "%%time\nimport os\nos.system('echo w4tch')\n", SHELL),
    ("notebook-capture", "%%capture", "%%capture out\nimport os\nos.system('echo w4tch')\n", SHELL),
    ("notebook-prun", "%prun", "%prun __import__('os').system('echo w4tch')\n", SHELL),
    ("notebook-alias", "%alias", "%alias quiet echo w4tch\n%quiet\n", SHELL),
)  # fmt: skip
"""Name, what runs, code, events."""

NOTEBOOK_TWINS = (
    ("notebook-bang", "note = 'hello!'\nwow = not True != False\n"),
    ("notebook-bang-later", "x = 1\nif x != 2:\n    print('!')\n"),
    ("notebook-time", "%time sum(range(10))\n"),
    ("notebook-timeit", "%timeit -n1 -r1 sum(range(10))\n"),
    ("notebook-time-cell", "%%time\nimport math\nmath.sqrt(4)\n"),
    ("notebook-capture", "%%capture out\nprint(1)\n"),
    ("notebook-help", "import math\nmath.sqrt?\n"),
    ("notebook-percent", "x = 7 %2\ny = '%s' %x\n"),
    ("notebook-prun", "%prun sum(range(10))\n"),
    ("notebook-precision", "%precision 3\n1 / 3\n"),
    ("notebook-who", "x = 1\n%who\n"),
)
