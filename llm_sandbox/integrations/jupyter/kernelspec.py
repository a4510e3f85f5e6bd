"""Kernelspecs: how front ends come to know a sandbox as a kernel."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.extras import require

__all__ = ["PROVISIONER", "describe_kernel", "install_kernelspec"]

PROVISIONER = "llm-sandbox"
"""What the provisioner is called in kernelspecs."""


def describe_kernel(
    display_name: str, config: Mapping[str, Any], env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the contents of a ``kernel.json``.

    Args:
        display_name: What people see.
        config: Settings of `SandboxProvisioner`.
        env: Variables of the code in the sandbox.
    """
    return {
        # Not run: the kernel is the sandbox's own. Front ends want to see a command all the same.
        "argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": display_name,
        "language": "python",
        "interrupt_mode": "signal",
        "env": dict(env or {}),
        "metadata": {
            "kernel_provisioner": {
                "provisioner_name": PROVISIONER,
                "config": {
                    name: value for name, value in config.items() if value not in (None, [])
                },
            }
        },
    }


def install_kernelspec(
    name: str = "llm-sandbox",
    *,
    display_name: str = "Python (sandbox)",
    backend: str | None = None,
    image: str | None = None,
    libraries: Sequence[str] = (),
    network: str = "blocked",
    memory: str | None = None,
    policy: str | None = None,
    files: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    prefix: str | None = None,
    user: bool = True,
) -> Path:
    """Have Jupyter know a sandbox as a kernel, and return the folder of its kernelspec.

    Args:
        name: The kernel's name, as ``jupyter --kernel`` takes it.
        display_name: What people see.
        backend: Where sandboxes are made; None for the first that works here.
        image: Image of a container backend.
        libraries: Installed at each start.
        network: ``blocked`` or ``open``.
        memory: Such as ``2g``.
        policy: A preset of the scanner, or a file; cells that it refuses are not run.
        files: Patterns of files beside the notebook that are copied into the sandbox.
        env: Variables of the code.
        prefix: Folder of an environment to install into; None for the user's own folder.
        user: Whether to install for the user alone, where there is no `prefix`.

    Raises:
        MissingDependencyError: jupyter-client is not installed.
        ValidationError: The name cannot be a kernel's.
    """
    kernelspec = require("jupyter_client.kernelspec", "jupyter")
    if network not in ("blocked", "open"):
        raise ValidationError("network is 'blocked' or 'open'", parameter="network")
    config = {
        "backend": backend,
        "image": image,
        "libraries": list(libraries),
        "network": network,
        "memory": memory,
        "policy": policy,
        "files": list(files),
    }
    described = describe_kernel(display_name, config, env)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernel.json").write_text(json.dumps(described, indent=1) + "\n", "utf-8")
        try:
            placed = kernelspec.KernelSpecManager().install_kernel_spec(
                folder, name, user=user and prefix is None, prefix=prefix
            )
        except ValueError as error:
            raise ValidationError(str(error), parameter="name") from None
    return Path(placed)
