"""Every example runs as it stands, in an empty folder, the way a reader would try it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from docker.errors import APIError

from llm_sandbox.backends.registry import get_backend

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted([*(ROOT / "examples").glob("*.py"), *(ROOT / "examples/evaluation").glob("*.py")])
IN_CONTAINERS = sorted((ROOT / "examples" / "containers").glob("*.py"))
SAYS = {
    "1_basic": "'FOX'",
    "2_timeout": "stopped: started | exit code 124\nstill asleep: False\nstill here",
    "3_policy": "refused: ",
    "4_artifacts": "saved squares-1.png\nmade: squares.csv",
    "5_existing_container": "the container is running\nleft by the session",
    "6_custom_image": "False",
    "7_dockerfile": "hello from the image",
    "8_mounts": "12\nOSError: [Errno 30] Read-only file system",
    "9_commit": "as it was left",
}
PNG = b"\x89PNG\r\n\x1a\n"


def run_example(path: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(path), *words],
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


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param(name, marks=pytest.mark.engine(name, image="python"))
        for name in ("docker", "podman")
    ],
)
@pytest.mark.parametrize("path", IN_CONTAINERS, ids=lambda path: path.stem)
def test_container_example_runs(path: Path, backend: str, tmp_path: Path) -> None:
    """It says what it is to show, and has nothing to complain about."""
    done = run_example(path, tmp_path, "--backend", backend)
    assert done.returncode == 0, done.stdout + done.stderr
    assert SAYS[path.stem] in done.stdout
    assert "Traceback" not in done.stderr
    if path.stem == "9_commit":
        remove_image(backend, done.stdout.split()[2])


def remove_image(backend: str, image: str) -> None:
    client = get_backend(backend).engine.client
    for attempt in range(100):
        try:
            client.images.remove(image)
            return
        except APIError:  # a container that is being removed still uses it
            if attempt == 99:
                raise
            time.sleep(0.2)


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


def test_languages_example_says_what_is_missing(tmp_path: Path) -> None:
    """Each language's line is its output, or what would have to be installed."""
    done = run_example(ROOT / "examples" / "11_languages.py", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert "bash: 3 words, the last is three" in lines
    for language in ("javascript", "ruby", "r", "cpp"):
        assert [
            line for line in lines if line.startswith((f"{language}: ", f"{language} is run by"))
        ]


@pytest.mark.parametrize(
    "path",
    [path for path in (*EXAMPLES, *IN_CONTAINERS) if path.name[0].isdigit()],
    ids=lambda path: path.stem,
)
def test_example_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 40
