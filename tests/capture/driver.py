"""A zygote in miniature: one shell with the shim, and a fork for every program it is sent.

Reads one JSON object per line (``{"cells": [...]}``) and answers each with one line.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import io
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

SHIM = Path(__file__).parents[2] / "llm_sandbox" / "language_handlers" / "python"


def preload() -> None:
    """Load and use the libraries while no shell exists, as a warm zygote does."""
    import matplotlib.pyplot as plt

    for name in ("PIL.Image", "plotly.express", "seaborn"):
        importlib.import_module(name)
    plt.plot([1, 2])
    plt.gcf().canvas.draw()
    plt.close("all")


def make_shell() -> tuple[Any, list[dict[str, Any]]]:
    """Create a shell that records displays and results in their order."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets import Type

    records: list[dict[str, Any]] = []

    class Publisher(DisplayPublisher):
        def publish(  # type: ignore[override]
            self, data: Any, metadata: Any = None, **kwargs: Any
        ) -> None:
            records.append({"type": "display_data", "data": data, "metadata": metadata or {}})

    class Hook(DisplayHook):
        def write_output_prompt(self) -> None:
            pass

        def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
            records.append({"type": "execute_result", "data": format_dict, "metadata": md_dict})

    # Named as in ipykernel: plotly looks at the name of the shell's class.
    class ZMQInteractiveShell(InteractiveShell):
        displayhook_class = Type(Hook)
        display_pub_class = Type(Publisher)

        def enable_gui(self, gui: str | None = None) -> None:
            pass

    shell: Any = ZMQInteractiveShell.instance()
    shell.history_manager.enabled = False
    shell.colors = "nocolor"
    return shell, records


def run(shell: Any, records: list[dict[str, Any]], cells: list[str]) -> dict[str, Any]:
    """Run cells in this process, in a directory of their own."""
    out, err = io.StringIO(), io.StringIO()
    before = set(shell.user_ns)
    errors: list[str | None] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            for number, cell in enumerate(cells):
                start = len(records)
                result = shell.run_cell(cell, store_history=True)
                error = result.error_before_exec or result.error_in_exec
                errors.append(type(error).__name__ if error else None)
                for record in records[start:]:
                    record["cell"] = number
        files = sorted(path.name for path in Path(folder).iterdir())
    return {
        "records": records,
        "stdout": out.getvalue(),
        "stderr": err.getvalue(),
        "errors": errors,
        "names": sorted(set(shell.user_ns) - before),
        "files": files,
        "modules": sorted(
            {"matplotlib", "plotly", "PIL", "numpy", "seaborn", "pandas"} & set(sys.modules)
        ),
    }


def serve() -> None:
    """Fork for every request, like the zygote."""
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    if "preload" in sys.argv[1:]:
        preload()
    shell, records = make_shell()
    sys.path.insert(0, str(SHIM))
    shim = importlib.import_module("shim")
    if "stock" not in sys.argv[1:]:
        shim.install(shell)
        shim.install(shell)
    for line in sys.stdin:
        cells = json.loads(line)["cells"]
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            try:
                answer = json.dumps(
                    run(shell, records, cells),
                    default=lambda value: (
                        base64.b64encode(value).decode()
                        if isinstance(value, bytes)
                        else repr(value)
                    ),
                )
            except BaseException:  # noqa: BLE001 - the parent reports it
                answer = json.dumps({"crash": traceback.format_exc()})
            with os.fdopen(writer, "w") as pipe:
                pipe.write(answer)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        channel.write(answer + "\n")


if __name__ == "__main__":
    serve()
