"""Ask Claude Code, by the Claude Agent SDK, about a table: it writes code, and sees its figures.

    pip install '.[claude-agent-sdk]'
    python examples/integrations/claude_agent.py [MODEL [QUESTION]]

ANTHROPIC_API_KEY is needed, or a Claude Code that is signed in; a server of your own is named by
ANTHROPIC_BASE_URL. The agent has no tool but the sandbox: what it does stays there.
"""

import asyncio
import sys
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

from llm_sandbox.aio import create_session
from llm_sandbox.integrations.claude_agent_sdk import make_server

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
INSTRUCTIONS = "The table is in penguins.csv. Look at its columns first, then draw one figure."


async def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    async with create_session() as session:
        await session.copy_to_runtime(str(DATA), "penguins.csv")
        options = ClaudeAgentOptions(
            mcp_servers={"sandbox": make_server(session)},
            allowed_tools=["mcp__sandbox__run_code"],
            tools=[],  # none of Claude Code's own
            setting_sources=[],
            system_prompt=INSTRUCTIONS,
            model=words[0] if words else None,
        )
        async for message in query(prompt=" ".join(words[1:]) or QUESTION, options=options):
            if isinstance(message, ResultMessage):
                print(message.result)
        figures = [plot for run in session.history for plot in run.result.plots]
        for number, figure in enumerate(figures, start=1):
            print("saved", figure.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
