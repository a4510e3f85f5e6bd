"""Jupyter kernels in sandboxes, for JupyterLab, nbclient, papermill and other front ends.

Needs the extra ``jupyter``; importing this without it says what to type.
From the command line: ``llm-sandbox kernelspec``.

Cells have no deadline: users interrupt them in Jupyter, and nbclient and papermill have timeouts.
"""

from llm_sandbox.integrations.extras import require

require("jupyter_client", "jupyter")

from llm_sandbox.integrations.jupyter.kernelspec import (  # noqa: E402 - see above
    install_kernelspec,
)
from llm_sandbox.integrations.jupyter.provisioner import SandboxProvisioner  # noqa: E402

__all__ = ["SandboxProvisioner", "install_kernelspec"]
