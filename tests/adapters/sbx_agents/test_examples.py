"""The examples run as they stand, in an empty folder."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
SAYS = {
    "1_command": "0 2 notes.txt\nchanged notes.txt",
    "2_branch": "here: print('hello')\n",
    "3_runner": "What is the answer? I wrote it down.\n",
}


@pytest.mark.engine("docker", image="python")
@pytest.mark.parametrize("name", SAYS)
def test_example(name: str, tmp_path: Path) -> None:
    """An example ends well, and says what it is to show."""
    if name == "3_runner" and find_spec("sbx_agents") is None:
        pytest.skip("pip install sbx-agents==0.1.0")
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "sbx_agents" / f"{name}.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert SAYS[name] in done.stdout
    if name == "2_branch":
        assert "now: print('good morning')\n" in done.stdout
