"""The chart corpus: programs with the charts that they must come back with, and what runs them.

A case is a file of three sections, `# %% data`, `# %% program` and `# %% expected`. What runs is
the first two. The last runs outside, after the data alone, and sets `expected`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "CHART_MIME",
    "CORPUS",
    "Case",
    "Runner",
    "charts_of",
    "find_cases",
    "load_case",
]

CORPUS = Path(__file__).parent / "corpus"
CHART_MIME = "application/vnd.llm-sandbox.chart+json"

_DRIVER = Path(__file__).parents[1] / "capture" / "driver.py"
_SECTION = re.compile(r"(?m)^# %% (data|program|expected)[^\n]*\n")
_PRELOADED = {
    "matplotlib": ("matplotlib.pyplot", "pandas"),
    "seaborn": ("matplotlib.pyplot", "seaborn"),
    "pandas": ("matplotlib.pyplot", "pandas"),
    "plotly": ("pandas", "plotly.express"),
    "altair": ("pandas", "altair"),
    "sklearn": ("matplotlib.pyplot", "sklearn.metrics"),
    "statsmodels": ("matplotlib.pyplot", "statsmodels.api"),
    "networkx": ("matplotlib.pyplot", "networkx"),
    "bokeh": ("pandas", "bokeh.plotting", "bokeh.transform", "bokeh.palettes"),
}
_START = """
import importlib, runpy, sys
for name in sys.argv[2:]:
    importlib.import_module(name)
if "matplotlib.pyplot" in sys.modules:
    plt = sys.modules["matplotlib.pyplot"]
    # The pictures are not looked at here.
    plt.rcParams["figure.dpi"] = plt.rcParams["savefig.dpi"] = 20
    plt.plot([1, 2])
    plt.gcf().canvas.draw()
    plt.close("all")
if "plotly.express" in sys.modules:
    # What the first figures load, one by one.
    import nbformat.v4
    express = sys.modules["plotly.express"]
    for make in (express.scatter, express.line, express.bar, express.histogram, express.pie):
        names = {"names": [1, 2], "values": [1, 2]} if make is express.pie else {"x": [1, 2]}
        make(**names).to_plotly_json()
driver = sys.argv[1]
del sys.argv[1:]
sys.path.insert(0, driver.rpartition("/")[0])
runpy.run_path(driver, run_name="__main__")
"""


@dataclass(frozen=True)
class Case:
    """A program and the charts it makes."""

    path: Path
    program: str
    """Code that runs inside: the data and the program."""
    expected: list[dict[str, Any]]
    """One dict a figure, with the keys of a chart record that are known."""
    tolerance: float
    """Largest relative difference of two numbers that count as equal."""

    @property
    def library(self) -> str:
        """The folder it is in."""
        return self.path.parent.name

    @property
    def name(self) -> str:
        """Library and file name."""
        return f"{self.library}/{self.path.stem}"


def load_case(path: Path) -> Case:
    """Read a file of the corpus and work out what it expects.

    Raises:
        ValueError: a section is missing, or `expected` is not set to a list.
    """
    text = path.read_text()
    marks = list(_SECTION.finditer(text))
    if [mark[1] for mark in marks] != ["data", "program", "expected"]:
        raise ValueError(f"{path} needs the sections data, program and expected, in this order")
    data = text[: marks[1].start()]
    program = text[: marks[2].start()]
    known = "\n" * program.count("\n") + text[marks[2].start() :]
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(compile(data, str(path), "exec"), names)
        exec(compile(known, str(path), "exec"), names)
    expected = names.get("expected")
    if not isinstance(expected, list) or not all(isinstance(item, dict) for item in expected):
        raise ValueError(f"{path}: the last section must set expected to a list of charts")
    return Case(path, program, expected, float(names.get("tolerance", 1e-9)))


def find_cases(where: Path = CORPUS) -> list[Path]:
    """Return the files of the corpus in a folder, or the one file, in order."""
    return [where] if where.is_file() else sorted(where.rglob("*.py"))


def charts_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the chart records that a run displayed, in order."""
    bundles = [record["data"] for record in answer["records"]]
    return [bundle[CHART_MIME] for bundle in bundles if CHART_MIME in bundle]


class Runner:
    """A process with libraries loaded, that forks for every program."""

    def __init__(self, libraries: set[str], timeout_s: float = 60.0) -> None:
        names = dict.fromkeys(name for lib in sorted(libraries) for name in _PRELOADED.get(lib, ()))
        environment = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        environment.pop("DISPLAY", None)
        self._command = [sys.executable, "-c", _START, str(_DRIVER), *names]
        self._environment = environment
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, program: str) -> dict[str, Any]:
        """Run a program in a fresh fork; what it answers is described in the driver.

        Raises:
            TimeoutError: it took too long; the process has been ended.
            RuntimeError: the process died, or the driver failed.
        """
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
                bufsize=0,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"cells": [program]}).encode() + b"\n")
        line = self._read_line(self._process.stdout.fileno())
        answer: dict[str, Any] = json.loads(line)
        if "crash" in answer:
            raise RuntimeError(answer["crash"])
        return answer

    def _read_line(self, reader: int) -> bytes:
        pieces: list[bytes] = []
        while not pieces or not pieces[-1].endswith(b"\n"):
            if not select.select([reader], [], [], self._timeout_s)[0]:
                self.close()
                raise TimeoutError(f"no answer within {self._timeout_s:g} s")
            piece = os.read(reader, 1 << 20)
            if not piece:
                self.close()
                raise RuntimeError("the driver ended")
            pieces.append(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """End the process and all that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
