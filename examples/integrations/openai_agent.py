"""Ask a model about a table: it writes code, the sandbox runs it, and its figures come back.

    pip install '.[openai]'
    OPENAI_API_KEY=... python examples/integrations/openai_agent.py MODEL [QUESTION]

Another provider, or a server of your own, is named by OPENAI_BASE_URL; most of them speak Chat
Completions: add ``--chat``.
"""

import sys
from pathlib import Path

import openai

from llm_sandbox import create_session
from llm_sandbox.integrations.openai import run_agent

DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
QUESTION = "Which penguins are the heaviest? Draw body mass by species, and say what you see."
INSTRUCTIONS = "The table is in penguins.csv. Look at its columns first, then draw one figure."


def main(words: list[str]) -> int:
    """Ask, and save what was drawn."""
    chat = "--chat" in words
    words = [word for word in words if word != "--chat"]
    if not words:
        print(__doc__)
        return 2
    with create_session() as session:
        session.copy_to_runtime(str(DATA), "penguins.csv")
        done = run_agent(
            openai.OpenAI(),
            words[0],
            " ".join(words[1:]) or QUESTION,
            session=session,
            api="chat" if chat else "responses",
            instructions=INSTRUCTIONS,
            on_run=lambda run: print(f"--- it runs\n{run.code.strip()}\n--- {run.reply.result!r}"),
        )
    print(done)
    for number, artifact in enumerate(done.artifacts, start=1):
        if artifact.mime.startswith("image/"):
            print("saved", artifact.save(f"figure-{number}"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
