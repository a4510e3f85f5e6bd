"""The end-to-end example: the demo's table, a model with written answers, a figure on the disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.scripted_model import Call, Say, serve

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "integrations" / "openai_agent.py"
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = """
import seaborn as sns
sns.boxplot(data.dropna(), x="species", y="body_mass_g")
"""


@pytest.mark.parametrize("words", [[], ["--chat"]], ids=["responses", "chat"])
def test_the_example_saves_the_figure(words: list[str], tmp_path: Path) -> None:
    """It looks, draws, answers, and the picture is there."""
    with serve([Call(LOOK)], [Call(DRAW)], [Say("Gentoos are the heaviest.")]) as model:
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), "a-model", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=100,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "OPENAI_BASE_URL": model.url,
                "OPENAI_API_KEY": "none",
            },
        )
    assert done.returncode == 0, done.stderr
    assert "Gentoos are the heaviest." in done.stdout
    assert [path.suffix for path in tmp_path.iterdir()] == [".png"]
    assert "body_mass_g" in str(model.requests[1])
