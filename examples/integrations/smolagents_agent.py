"""Ask an agent of smolagents about a table: the code that it writes runs in a sandbox.

    pip install '.[smolagents]'
    python examples/integrations/smolagents_agent.py [MODEL [QUESTION]]

Without MODEL its answers are the ones written down here, and nothing leaves this machine. With it
the framework's `InferenceClientModel` is asked, which needs HF_TOKEN.
"""

import sys
from pathlib import Path
from typing import Any

from smolagents import CodeAgent, InferenceClientModel, Model
from smolagents.models import ChatMessage, MessageRole

from llm_sandbox.integrations.smolagents import SandboxExecutor

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = (
    "Which penguins are the heaviest? The table is in penguins.csv. Look at its columns first, "
    "then draw body mass by species, and say what you see."
)
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"
ANSWER = "final_answer('Gentoos are the heaviest.')"


class WrittenModel(Model):
    """Looks at the table, draws, and answers."""

    def __init__(self) -> None:
        super().__init__(model_id="written")
        self._codes = iter([LOOK, DRAW, ANSWER])

    def generate(self, messages: list[ChatMessage], *_: Any, **__: Any) -> ChatMessage:
        """Return the next answer."""
        text = f"Thought: I write code.\n<code>\n{next(self._codes)}\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)


def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    model = InferenceClientModel(words[0]) if words else WrittenModel()
    with SandboxExecutor() as executor:
        executor.session.copy_to_runtime(str(DATA), "penguins.csv")
        agent = CodeAgent(
            tools=[],
            model=model,
            executor=executor,
            step_callbacks=[executor.observe],  # the model sees the figures
            additional_authorized_imports=["*"],  # what it may import, the sandbox decides
        )
        print(agent.run(" ".join(words[1:]) or QUESTION))
        figures = [plot for run in executor.session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
