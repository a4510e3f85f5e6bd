"""Jupyter: notebooks whose kernels live in sandboxes, whatever runs them: JupyterLab, papermill.

Needs ``pip install 'llm-sandbox[jupyter]'``. From the command line: ``llm-sandbox kernelspec``.
"""

from llm_sandbox.integrations.jupyter.kernelspec import install_kernelspec
from llm_sandbox.integrations.jupyter.provisioner import SandboxProvisioner

__all__ = ["SandboxProvisioner", "install_kernelspec"]
