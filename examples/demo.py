"""Small analysis, as a model might write it step by step, in one sandboxed session.

The steps are in `analysis_steps/`: one of them has a mistake, and the next one repairs it, which
works because a failed step leaves the session and its variables as they were.
"""

import re
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from llm_sandbox import ArtifactSandboxSession, ExecutionResult
from llm_sandbox.exceptions import SandboxError

HERE = Path(__file__).resolve().parent
OUTPUT = Path("demo-output")

console = Console(highlight=False)


def show_result(result: ExecutionResult) -> None:
    # What a program printed may hold control sequences: colours are kept, all else is dropped.
    if result.stdout.strip():
        console.print(Padding(Text.from_ansi(result.stdout.rstrip()), (0, 0, 0, 4)))
    if result.error is not None:
        line = Text("    ")
        line.append(f"{result.error.name}: {result.error.value}", style="bold red")
        line.append(f"  (line {result.error.line})", style="red")
        console.print(line)


def save_figures(result: ExecutionResult, name: str, first: int) -> int:
    for number, plot in enumerate(result.plots, start=first):
        saved = Path(plot.save(OUTPUT / f"{number:02d}-{name}"))
        size = f"{plot.width} x {plot.height} pixels"
        console.print(Text.assemble("    figure ", (str(saved), "bold green"), f"  {size}"))
    return len(result.plots)


def run_steps(session: ArtifactSandboxSession) -> int:
    """Run each step, show its results, and return how many figures were saved."""
    figures = 0
    for step in sorted((HERE / "analysis_steps").glob("*.py")):
        started = time.perf_counter()
        result = session.run(step.read_text(encoding="utf-8"))
        milliseconds = (time.perf_counter() - started) * 1000
        console.print(Text.assemble("\n", (step.name, "bold"), f"  {milliseconds:.0f} ms"))
        show_result(result)
        name = re.sub(r"^\d+_", "", step.stem).replace("_", "-")
        figures += save_figures(result, name, figures + 1)
    return figures


def main() -> int:
    OUTPUT.mkdir(exist_ok=True)
    started = time.perf_counter()
    try:
        with ArtifactSandboxSession(lang="python", backend=None) as session:
            opened = (time.perf_counter() - started) * 1000
            console.print(Text.assemble("backend    ", (str(session.backend), "bold")))
            console.print(Text(f"isolation  {session.isolation}"))
            console.print(f"opened in  {opened:.0f} ms")
            session.copy_to_runtime(str(HERE / "data" / "penguins.csv"), "penguins.csv")
            figures = run_steps(session)
    except SandboxError as error:
        console.print(Text.assemble(("the sandbox failed: ", "bold red"), error.message))
        if error.hint:
            console.print(Text.assemble(("try: ", "bold"), error.hint))
        return 1
    total = time.perf_counter() - started
    console.print(f"\n{figures} figures in ./{OUTPUT}, {total:.1f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
