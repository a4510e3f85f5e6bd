"""Ask an agent of Google's ADK about a table: the code that it writes runs in a sandbox.

    pip install '.[google-adk]'
    python examples/integrations/google_adk_agent.py [MODEL [QUESTION]]

Without MODEL its answers are the ones written down here, and nothing leaves this machine. MODEL is
a name that ADK knows, as `gemini-flash-latest`, with its key.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from llm_sandbox.integrations.google_adk import SandboxCodeExecutor

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
INSTRUCTIONS = "The table is in penguins.csv. Look at its columns first, then draw one figure."
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"


class WrittenModel(BaseLlm):
    """Looks at the table, draws, and answers."""

    done: int = 0

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Give the next answer."""
        turns = [f"```python\n{LOOK}\n```", f"```python\n{DRAW}\n```", "Gentoos are the heaviest."]
        part = types.Part(text=turns[self.done])
        self.done += 1
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def main(words: list[str]) -> int:
    """Ask, and save what was drawn: it is among ADK's artifacts."""
    model = words[0] if words else WrittenModel(model="written")
    with SandboxCodeExecutor() as executor:
        analyst = LlmAgent(
            name="analyst", model=model, instruction=INSTRUCTIONS, code_executor=executor
        )
        runner = InMemoryRunner(analyst, app_name="penguins")
        talk = {"app_name": "penguins", "user_id": "me", "session_id": "one"}
        await runner.session_service.create_session(**talk)
        session = executor.session_of("one")
        session.copy_to_runtime(str(DATA), "penguins.csv")
        asked = types.Content(role="user", parts=[types.Part(text=" ".join(words[1:]) or QUESTION)])
        async for event in runner.run_async(user_id="me", session_id="one", new_message=asked):
            for part in (event.content.parts if event.content else None) or []:
                print(part.text or "")
        print("artifacts:", await runner.artifact_service.list_artifact_keys(**talk))
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
