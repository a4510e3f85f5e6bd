"""Ask a `CodeActAgent` of LlamaIndex about a table: the code that it writes runs in a sandbox.

    pip install '.[llama-index]'
    python examples/integrations/llama_index_agent.py [MODEL [QUESTION]]

Without MODEL its answers are the ones written down here, and nothing leaves this machine. With it
`llama-index-llms-openai` and OPENAI_API_KEY are needed.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core.agent.workflow import CodeActAgent
from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM

from llm_sandbox.aio import create_session
from llm_sandbox.integrations.llama_index import make_code_execute_fn

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
INSTRUCTIONS = "The table is in penguins.csv. Look at its columns first, then draw one figure."
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"


def written_model() -> LLM:
    """Looks at the table, draws, and answers."""
    turns = [f"<execute>\n{code}\n</execute>" for code in (LOOK, DRAW)]
    turns.append("Gentoos are the heaviest.")

    def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        done = sum(message.role == "assistant" for message in messages)
        return ChatMessage(role="assistant", content=turns[done])

    return MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)


async def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    model = written_model()
    if words:
        from llama_index.llms.openai import OpenAI

        model = OpenAI(words[0])
    async with create_session() as session:
        await session.copy_to_runtime(str(DATA), "penguins.csv")
        analyst = CodeActAgent(
            code_execute_fn=make_code_execute_fn(session),
            llm=model,
            system_prompt=INSTRUCTIONS,
            streaming=False,
        )
        print(await analyst.run(" ".join(words[1:]) or QUESTION))
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
