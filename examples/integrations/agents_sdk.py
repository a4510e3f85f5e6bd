"""Ask an agent of OpenAI's Agents SDK about a table: it writes code, and sees its figures.

    pip install '.[agents]'
    python examples/integrations/agents_sdk.py [MODEL [QUESTION]]

Without MODEL its answers are the ones written down here, and nothing leaves this machine. With it
OPENAI_API_KEY is needed; another provider, or a server of your own, is named by OPENAI_BASE_URL.
"""

import asyncio
import sys
from pathlib import Path

from agents import Agent, Model, Runner, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from llm_sandbox.aio import create_session
from llm_sandbox.integrations.agents import make_tools

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
INSTRUCTIONS = "The table is in penguins.csv. Look at its columns first, then draw one figure."
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"


def written_model() -> Model:
    """Looks at the table, draws, and answers."""
    codes = {"call_1": LOOK, "call_2": DRAW}
    calls = [
        [function_call("run_code", {"code": code, "libraries": None}, call_id=key)]
        for key, code in codes.items()
    ]
    return ScriptedModel([*calls, [assistant_message("Gentoos are the heaviest.")]])


async def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    set_tracing_disabled(True)  # the SDK sends a trace of every run to OpenAI otherwise
    async with create_session() as session:
        await session.copy_to_runtime(str(DATA), "penguins.csv")
        analyst = Agent(
            "analyst",
            instructions=INSTRUCTIONS,
            tools=make_tools(session),
            model=words[0] if words else written_model(),
        )
        done = await Runner.run(analyst, " ".join(words[1:]) or QUESTION)
        print(done.final_output)
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
