"""Every example runs as it stands, in an empty folder, the way a reader would try it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PNG = b"\x89PNG\r\n\x1a\n"


def run_example(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(path)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=110,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "200"},
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    """An example ends well, says something, and has nothing to complain about."""
    done = run_example(path, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()
    assert "Traceback" not in done.stderr


def test_demo_saves_its_figures(tmp_path: Path) -> None:
    """The demo shows the failed step, and leaves each figure as a PNG named after its step."""
    done = run_example(ROOT / "examples" / "demo.py", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "KeyError" in done.stdout

    figures = sorted((tmp_path / "demo-output").iterdir())
    assert ["01-bill-shapes.png", "02-islands.png", "03-body-mass-again.png"] == [
        figure.name for figure in figures
    ]
    for figure in figures:
        content = figure.read_bytes()
        assert content.startswith(PNG)
        assert len(content) > 5_000, "a figure this small is blank"


def test_plots_example_saves_each_figure_once(tmp_path: Path) -> None:
    done = run_example(ROOT / "examples" / "02_plots.py", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    names = sorted(path.name for path in tmp_path.iterdir())
    assert ["harmonic-1.png", "harmonic-2.png", "harmonic-3.png"] == names


@pytest.mark.parametrize(
    "path", [path for path in EXAMPLES if path.name[0].isdigit()], ids=lambda path: path.stem
)
def test_example_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 40
