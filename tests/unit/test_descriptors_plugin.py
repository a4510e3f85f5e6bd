"""The run of a module that leaves descriptors open fails, and says which module it was."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, 30])
def test_a_module_that_leaves_descriptors_fails(tmp_path: Path, pairs: int) -> None:
    leaving = tmp_path / "test_leaving.py"
    leaving.write_text(
        f"import os\ndef test_first(): [os.pipe() for _ in range({pairs})]\ndef test_last(): ...\n"
    )
    (tmp_path / "test_next.py").write_text("def test_next(): ...\n")
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "-p", "no:cacheprovider"]
    plugin = ["-p", "tests.plugins.descriptors", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run([*command, *plugin], cwd=ROOT, capture_output=True, text=True)

    if pairs == 1:
        assert 0 == done.returncode, done.stdout
    else:
        assert 1 == done.returncode, done.stdout
        assert "test_leaving.py left 60 descriptors open" in done.stdout
        assert "3 passed, 1 error" in done.stdout
