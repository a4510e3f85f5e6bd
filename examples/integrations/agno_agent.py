"""Ask an agent of Agno about a table: it writes code, and sees its figures.

    pip install '.[agno]' openai
    python examples/integrations/agno_agent.py MODEL [QUESTION]

OPENAI_API_KEY is needed; another provider, or a server of your own, is named by OPENAI_BASE_URL.
"""

import asyncio
import os
import sys
from pathlib import Path

from agno.agent import Agent
from agno.models.openai import OpenAIChat

from llm_sandbox.aio import create_session
from llm_sandbox.integrations.agno import SandboxTools

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
INSTRUCTIONS = "The table is in penguins.csv. Look at its columns first, then draw one figure."


async def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    if not words:
        print(__doc__)
        return 2
    async with create_session() as session:
        await session.copy_to_runtime(str(DATA), "penguins.csv")
        analyst = Agent(
            model=OpenAIChat(id=words[0], base_url=os.environ.get("OPENAI_BASE_URL")),
            tools=[SandboxTools(session)],
            instructions=INSTRUCTIONS,
            telemetry=False,
        )
        done = await analyst.arun(" ".join(words[1:]) or QUESTION)
        print(done.content)
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
