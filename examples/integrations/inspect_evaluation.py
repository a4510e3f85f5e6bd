"""An evaluation of inspect_ai whose programs run in sandboxes, with a model that was written down.

    pip install '.[inspect]'
    python examples/integrations/inspect_evaluation.py [BACKEND] [--model NAME]

Each sample gets a sandbox of its own with its files and its set-up, and the scorer looks at what is
there in the end. Without ``--model``, answers come from this file: no network is needed. The log is
written where INSPECT_LOG_DIR says, or into ``logs``.
"""

import sys
from collections.abc import Iterator

from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState, generate, system_message, use_tools
from inspect_ai.tool import bash, python
from inspect_ai.util import sandbox

from llm_sandbox.integrations.inspect import SandboxConfig

SALES = "region,units\nnorth,12\nsouth,30\nnorth,8\n"
WORDS = ["fig", "apple", "date"]
COUNT = """
import csv
rows = csv.DictReader(open("sales.csv"))
total = sum(int(row["units"]) for row in rows if row["region"] == "north")
open("answer.txt", "w").write(str(total))
print(total)
"""


@scorer(metrics=[accuracy()])
def answered() -> Scorer:
    """Return whether the requested file holds the right answer."""

    async def score(state: TaskState, target: Target) -> Score:
        try:
            answer = (await sandbox().read_file("answer.txt")).strip()
        except FileNotFoundError:
            return Score(value="I", explanation="there is no answer.txt")
        return Score(value="C" if answer == target.text else "I", answer=answer)

    return score


@task
def tables(backend: str | None = None) -> Task:
    """Return two questions about files, each answered in a file."""
    samples = [
        Sample(
            "How many units did the north sell, by sales.csv? Write the number into answer.txt.",
            target="20",
            files={"sales.csv": SALES},
        ),
        Sample(
            "Write the first word of words.txt, in alphabetical order, into answer.txt.",
            target="apple",
            setup="#!/bin/sh\nprintf '%s\\n' " + " ".join(WORDS) + " > /sandbox/words.txt\n",
        ),
    ]
    return Task(
        dataset=samples,
        solver=[
            system_message("Use the tools, then say what you found."),
            use_tools(python(timeout=60), bash(timeout=60)),
            generate(),
        ],
        scorer=answered(),
        sandbox=("llm_sandbox", SandboxConfig(backend=backend, limits={"memory_bytes": "512m"})),
    )


def written() -> Iterator[ModelOutput]:
    """Return a model's answers, sample by sample."""
    name = "mockllm/model"
    answers = [
        ModelOutput.for_tool_call(name, "python", {"code": COUNT}),
        ModelOutput.from_content(name, "The north sold 20 units."),
        ModelOutput.for_tool_call(
            name, "bash", {"command": "sort words.txt | head -1 > answer.txt"}
        ),
        ModelOutput.from_content(name, "It is apple."),
    ]
    for answer in answers:
        # Tokens that are not said are counted, for which inspect fetches a table.
        answer.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        yield answer


def main(words: list[str]) -> int:
    """Evaluate, and print what was scored."""
    model = get_model("mockllm/model", custom_outputs=list(written()))
    if "--model" in words:
        at = words.index("--model")
        model, words = get_model(words[at + 1]), words[:at]
    log = eval(tables(words[0] if words else None), model=model, max_samples=1, display="none")[0]
    for sample in log.samples or []:
        for score in (sample.scores or {}).values():
            print(f"sample {sample.id}: {score.value}, {score.answer}")
    print(log.status, log.error.message if log.error else log.location)
    return 0 if log.status == "success" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
