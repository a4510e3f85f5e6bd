"""Run the blocks of a page in order, as one program; write what each came to.

    python run_page.py BLOCKS.json REPORT.json

Started by an interpreter that has the library and nothing of the tests.
"""

import json
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType

SHELL = ["bash", "-e", "-o", "pipefail", "-c"]
PATIENCE_S = 100


def run_python(block: dict, program: ModuleType) -> str | None:
    # Lines before it, so that a traceback has the page's own numbers.
    text = "\n" * (block["line"] - 1) + block["text"]
    try:
        exec(compile(text, block["page"], "exec"), vars(program))
    except BaseException:  # noqa: BLE001 - whatever it is, it is told
        return traceback.format_exc()
    return None


def run_shell(text: str) -> str | None:
    done = subprocess.run(
        [*SHELL, text],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_S,
    )
    print(done.stdout, flush=True)
    return f"exit code {done.returncode}\n{done.stdout}" if done.returncode else None


def commands(text: str) -> str:
    """What is typed in a recorded conversation with a shell."""
    return "\n".join(line[2:] for line in text.splitlines() if line.startswith(("$ ", "> ")))


def main(blocks: Path, report: Path) -> None:
    program = ModuleType("__main__")
    sys.modules["__main__"] = program
    sys.path[0] = ""
    outcomes = {}
    for block in json.loads(blocks.read_text()):
        print(f"--- {block['page']}:{block['line']}", flush=True)
        if block["runs_as"] == "python":
            error = run_python(block, program)
        elif block["runs_as"] == "shell":
            error = run_shell(block["text"])
        else:
            error = run_shell(commands(block["text"]))
        outcomes[block["line"]] = error
        report.write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
