"""Ask a deep agent about a table: its files and commands are in a sandbox, and so is its code.

    pip install '.[deepagents]'
    python examples/integrations/deep_agent.py [MODEL [QUESTION]]

Without MODEL its answers are the ones written down here, and nothing leaves this machine. MODEL is
a name that LangChain's `init_chat_model` takes, with the provider's package.
"""

import sys
from pathlib import Path
from typing import Any

from deepagents import create_deep_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from llm_sandbox import create_session
from llm_sandbox.integrations.deepagents import SandboxBackend
from llm_sandbox.integrations.langchain import make_tool

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"


class WrittenModel(BaseChatModel):
    """Looks at the table, draws, and answers."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        calls = [
            ("execute", {"command": "head -3 penguins.csv"}),
            ("run_code", {"code": LOOK}),
            ("run_code", {"code": DRAW}),
        ]
        done = sum(isinstance(message, ToolMessage) for message in messages)
        answer = AIMessage("Gentoos are the heaviest.")
        if done < len(calls):
            name, given = calls[done]
            call = {"name": name, "args": given, "id": f"call_{done}"}
            answer = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def bind_tools(self, tools: Any, **kwargs: Any) -> BaseChatModel:
        return self

    @property
    def _llm_type(self) -> str:
        return "written"


def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    with create_session() as session:
        session.copy_to_runtime(str(DATA), "penguins.csv")
        backend = SandboxBackend(session)
        analyst = create_deep_agent(
            model=words[0] if words else WrittenModel(),
            tools=[make_tool(session)],  # code, with variables and figures, beside the commands
            backend=backend,
            system_prompt=f"You work in {backend.workdir}, where the table penguins.csv is.",
        )
        asked = {"role": "user", "content": " ".join(words[1:]) or QUESTION}
        for message in analyst.invoke({"messages": [asked]})["messages"]:
            print(f"--- {message.type}\n{message.text}")
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
