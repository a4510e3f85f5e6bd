"""Jupyter: notebooks whose kernels live in sandboxes, whatever runs them: JupyterLab, papermill.

Needs the extra ``jupyter``; importing this without it says what to type.
From the command line: ``llm-sandbox kernelspec``.

A cell has no deadline: a person stops it by Jupyter's own interrupt, and nbclient and papermill by
the timeout that they are given.
"""

from llm_sandbox.integrations.extras import require

require("jupyter_client", "jupyter")

from llm_sandbox.integrations.jupyter.kernelspec import (  # noqa: E402 - see above
    install_kernelspec,
)
from llm_sandbox.integrations.jupyter.provisioner import SandboxProvisioner  # noqa: E402

__all__ = ["SandboxProvisioner", "install_kernelspec"]
