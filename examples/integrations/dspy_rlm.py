"""Ask a recursive language model of DSPy about a table that is too long to read.

    pip install '.[dspy]'
    python examples/integrations/dspy_rlm.py [MODEL [QUESTION]]

Without MODEL its answers are the ones written down here, and nothing leaves this machine. MODEL is
a name that `dspy.LM` takes, as `openai/NAME`, with its key.
"""

import sys
from pathlib import Path

import dspy
from dspy.utils import DummyLM

from llm_sandbox import create_session
from llm_sandbox.integrations.dspy import SandboxInterpreter

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species."
LOOK = "import io\nimport pandas as pd\ndata = pd.read_csv(io.StringIO(table))\nprint(data.columns)"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"
ANSWER = "SUBMIT(answer='Gentoos are the heaviest.')"


def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    steps = [{"reasoning": "I write code.", "code": code} for code in (LOOK, DRAW, ANSWER)]
    model = dspy.LM(words[0]) if words else DummyLM(steps)
    with create_session() as session, dspy.context(lm=model):
        analyst = dspy.RLM(
            "table, question -> answer", interpreter_factory=lambda: SandboxInterpreter(session)
        )
        done = analyst(table=DATA.read_text(), question=" ".join(words[1:]) or QUESTION)
        print(done.answer)
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
