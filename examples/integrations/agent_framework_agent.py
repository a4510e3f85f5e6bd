"""Ask an agent of Microsoft's Agent Framework about a table: it writes code, and sees its figures.

    pip install '.[agent-framework]'
    python examples/integrations/agent_framework_agent.py [MODEL [QUESTION]]

Without MODEL its answers are the ones written down here, and nothing leaves this machine. With it
`agent-framework-openai` and OPENAI_API_KEY are needed.
"""

import asyncio
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
)

from llm_sandbox.aio import create_session
from llm_sandbox.integrations.agent_framework import make_tool

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
INSTRUCTIONS = "The table is in penguins.csv. Look at its columns first, then draw one figure."
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"


class WrittenModel(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Looks at the table, draws, and answers."""

    def __init__(self) -> None:
        FunctionInvocationLayer.__init__(self)
        BaseChatClient.__init__(self)

    def _inner_get_response(self, *, messages: Any, **_: Any) -> Awaitable[ChatResponse]:
        codes = [LOOK, DRAW]
        done = sum(c.type == "function_result" for m in messages for c in m.contents)
        content: Any = "Gentoos are the heaviest."
        if done < len(codes):
            given = {"code": codes[done]}
            content = Content.from_function_call(f"call_{done}", "run_code", arguments=given)

        async def answer() -> ChatResponse:
            return ChatResponse(messages=[Message(role="assistant", contents=[content])])

        return answer()


async def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    model: Any = WrittenModel()
    if words:
        from agent_framework.openai import OpenAIChatClient

        model = OpenAIChatClient(words[0])
    async with create_session() as session:
        await session.copy_to_runtime(str(DATA), "penguins.csv")
        analyst = Agent(client=model, instructions=INSTRUCTIONS, tools=[make_tool(session)])
        print((await analyst.run(" ".join(words[1:]) or QUESTION)).text)
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
