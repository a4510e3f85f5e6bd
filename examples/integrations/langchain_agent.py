"""Ask a model about a table, in LangGraph: it writes code, and sees the figures that come back.

    pip install '.[langchain]' langgraph
    python examples/integrations/langchain_agent.py [MODEL [QUESTION]]

Without MODEL its answers are the ones written down here, and nothing leaves this machine. MODEL is
a name that LangChain's `init_chat_model` takes, with ``langchain`` and the provider's package.
"""

import sys
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from llm_sandbox import create_session
from llm_sandbox.integrations.langchain import make_tools

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"


class WrittenModel(BaseChatModel):
    """Looks at the table, draws, and answers."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        codes = [LOOK, DRAW]
        done = sum(isinstance(message, ToolMessage) for message in messages)
        if done < len(codes):
            call = {"name": "run_code", "args": {"code": codes[done]}, "id": f"call_{done}"}
            answer = AIMessage("", tool_calls=[call])
        else:
            answer = AIMessage("Gentoos are the heaviest.")
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def bind_tools(self, tools: Any, **kwargs: Any) -> BaseChatModel:
        return self

    @property
    def _llm_type(self) -> str:
        return "written"


def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    model: BaseChatModel = WrittenModel()
    if words:
        from langchain.chat_models import init_chat_model

        model = init_chat_model(words[0])
    with create_session() as session:
        session.copy_to_runtime(str(DATA), "penguins.csv")
        tools = make_tools(session)
        bound = model.bind_tools(tools)

        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": bound.invoke(state["messages"])})
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")

        question = " ".join(words[1:]) or QUESTION
        asked = HumanMessage(f"The table is in penguins.csv; look at its columns first. {question}")
        messages = graph.compile().invoke({"messages": [asked]})["messages"]
    for message in messages:
        print(f"--- {message.type}\n{message.text}")
    results = [item.artifact for item in messages if isinstance(item, ToolMessage)]
    figures = [plot for result in results if result is not None for plot in result.plots]
    for number, figure in enumerate(figures, start=1):
        print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
