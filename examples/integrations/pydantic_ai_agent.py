"""Ask an agent of pydantic-ai about a table: it writes code, and sees its figures.

    pip install '.[pydantic-ai]'
    python examples/integrations/pydantic_ai_agent.py [MODEL [QUESTION]]

Without MODEL its answers are the ones written down here, and nothing leaves this machine. With it,
as `openai:NAME`, the framework's package for that provider and its key are needed.
"""

import asyncio
import sys
from pathlib import Path

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from llm_sandbox.aio import create_session
from llm_sandbox.integrations.pydantic_ai import SandboxToolset

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
INSTRUCTIONS = "The table is in penguins.csv. Look at its columns first, then draw one figure."
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"


def written_model() -> Model:
    """Looks at the table, draws, and answers."""
    codes = iter([LOOK, DRAW])

    def answer(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        code = next(codes, None)
        if code is None:
            return ModelResponse(parts=[TextPart("Gentoos are the heaviest.")])
        return ModelResponse(parts=[ToolCallPart(info.function_tools[0].name, {"code": code})])

    return FunctionModel(answer)


async def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    async with create_session() as session:
        await session.copy_to_runtime(str(DATA), "penguins.csv")
        model = words[0] if words else written_model()
        agent = Agent(model, instructions=INSTRUCTIONS, toolsets=[SandboxToolset(session)])
        done = await agent.run(" ".join(words[1:]) or QUESTION)
        print(done.output)
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
