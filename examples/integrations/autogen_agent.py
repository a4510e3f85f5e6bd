"""Run what an AutoGen agent is told to run, in a sandbox that keeps variables.

    pip install '.[autogen]'
    python examples/integrations/autogen_agent.py [MODEL [QUESTION]]

Without MODEL the agent runs the blocks of code that are written down here, and nothing leaves this
machine. With it, and `autogen-ext[openai]` and OPENAI_API_KEY, a model writes them.
"""

import asyncio
import sys
from pathlib import Path

from autogen_agentchat.agents import ApprovalRequest, ApprovalResponse, CodeExecutorAgent

from llm_sandbox.integrations.autogen import SandboxCodeExecutor

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
INSTRUCTIONS = "The table is in penguins.csv. Look at its columns first, then draw one figure."
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"


def approve(request: ApprovalRequest) -> ApprovalResponse:
    """Approve the code: it runs in a sandbox."""
    return ApprovalResponse(approved=True, reason="it runs in a sandbox")


async def main(words: list[str]) -> int:
    """Have it run, and save what was drawn."""
    model = None
    tasks = [f"```python\n{code}\n```" for code in (LOOK, DRAW)]
    if words:
        from autogen_ext.models.openai import OpenAIChatCompletionClient

        model = OpenAIChatCompletionClient(model=words[0])
        tasks = [f"{INSTRUCTIONS} {' '.join(words[1:]) or QUESTION}"]
    async with SandboxCodeExecutor() as executor:
        session = executor.session
        session.copy_to_runtime(str(DATA), "penguins.csv")
        coder = CodeExecutorAgent("coder", executor, model_client=model, approval_func=approve)
        for task in tasks:
            done = await coder.run(task=task)
            print(done.messages[-1].to_text())
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
