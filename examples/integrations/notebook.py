"""Run notebooks in sandboxes, in whatever language their cells are.

    pip install '.[jupyter]' nbclient
    python examples/integrations/notebook.py [LANGUAGE]

After ``llm-sandbox kernelspec install --lang r`` JupyterLab offers the same kernel, and
``papermill --kernel llm-sandbox-r`` runs notebooks with it.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

from llm_sandbox.integrations.jupyter import install_kernelspec

CELLS = {
    "bash": ["total=0\nfor n in 1 2 3; do total=$((total + n)); done", "echo total: $total"],
    "javascript": ["const squares = [1, 2, 3].map(n => n * n)", "squares"],
    "python": ["squares = [n * n for n in range(4)]", "squares"],
    "r": ["squares <- (1:3)^2", "plot(squares)", "sum(squares)"],
}


def main(lang: str) -> Path:
    """Run a notebook, and return where it is with its outputs."""
    cells = [nbformat.v4.new_code_cell(code) for code in CELLS[lang]]
    notebook = nbformat.v4.new_notebook(cells=cells)
    # For this program alone; without a prefix the kernel is there for the user's other programs.
    with tempfile.TemporaryDirectory() as prefix:
        os.environ["JUPYTER_PATH"] = str(Path(prefix, "share", "jupyter"))
        install_kernelspec("sandboxed", lang=lang, memory="1g", prefix=prefix)
        nbclient.NotebookClient(notebook, kernel_name="sandboxed", timeout=60).execute()
    target = Path(f"{lang}.ipynb")
    nbformat.write(notebook, target)
    return target


if __name__ == "__main__":
    written = main(sys.argv[1] if len(sys.argv) > 1 else "bash")
    for cell in nbformat.read(written, 4).cells:
        print(f"In [{cell.execution_count}]: {cell.source}")
        for output in cell.outputs:
            print(output.get("text") or output["data"].get("text/plain") or list(output["data"]))
    print(f"saved {written}")
