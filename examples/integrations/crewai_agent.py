"""Ask an agent of CrewAI about a table: it writes code, which runs in a sandbox.

    pip install '.[crewai]'
    python examples/integrations/crewai_agent.py [MODEL [QUESTION]]

Without MODEL its answers are the ones written down here. MODEL is a name that CrewAI knows, as
`openai/NAME`, with its key. CrewAI reports its use to its makers; this example forbids it.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"

from crewai import Agent, BaseLLM, Crew, Task

from llm_sandbox import create_session
from llm_sandbox.integrations.crewai import make_tool

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
BACKSTORY = "You look at the columns of penguins.csv first, then draw one figure."
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"


class WrittenModel(BaseLLM):
    """Looks at the table, draws, and answers."""

    done: int = 0

    def call(self, *args: Any, **kwargs: Any) -> str:
        """Give the next answer."""
        codes = [LOOK, DRAW]
        if self.done == len(codes):
            return "Thought: I know.\nFinal Answer: Gentoos are the heaviest."
        given = json.dumps({"code": codes[self.done]})
        self.done += 1
        return f"Thought: I write code.\nAction: run_code\nAction Input: {given}"

    def supports_function_calling(self) -> bool:
        return False


def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    with create_session() as session:
        session.copy_to_runtime(str(DATA), "penguins.csv")
        analyst = Agent(
            role="analyst",
            goal="Answer questions about tables",
            backstory=BACKSTORY,
            llm=words[0] if words else WrittenModel(model="written"),
            tools=[make_tool(session)],
        )
        task = Task(
            description=" ".join(words[1:]) or QUESTION,
            expected_output="A sentence, and a figure",
            agent=analyst,
        )
        print(Crew(agents=[analyst], tasks=[task]).kickoff())
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
