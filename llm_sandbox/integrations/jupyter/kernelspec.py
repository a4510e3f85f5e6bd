"""Kernelspecs, which register sandboxes as kernels with Jupyter."""

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.jupyter.config import NotebookConfig
from llm_sandbox.jupyter.languages import LOGOS, notebook_language

__all__ = ["PROVISIONER", "describe_kernel", "install_kernelspec"]

PROVISIONER = "llm-sandbox"
"""Name of the provisioner in kernelspecs."""


def describe_kernel(
    display_name: str,
    config: Mapping[str, Any],
    env: Mapping[str, str] | None = None,
    lang: str = "python",
) -> dict[str, Any]:
    """Return the content of a ``kernel.json``.

    Args:
        display_name: Name shown to users.
        config: Settings of `SandboxProvisioner`.
        env: Environment variables of the code.
        lang: Name of the language in notebooks.
    """
    return {
        # Not run: the kernel is the sandbox's own. Front ends want to see a command all the same.
        "argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": display_name,
        "language": lang,
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
    name: str | None = None,
    *,
    lang: str = "python",
    display_name: str | None = None,
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
    """Install a kernelspec for a sandbox kernel, and return its folder.

    Args:
        name: Name of the kernel, as for ``jupyter --kernel``; None for ``llm-sandbox``, followed by
            the language if not Python.
        lang: Language of the cells, whose interpreter must keep state. Only Python cells can read
            input.
        display_name: Name shown to users; None for the language.
        backend: Backend; None for the first that works.
        image: Image of a container backend.
        libraries: Libraries to install at each start.
        network: ``blocked``, ``internet`` or ``open``; see `create_session`.
        memory: Memory limit, such as ``2g``.
        policy: Security policy, as a preset or a file; refused cells are not run.
        files: Patterns of files beside the notebook to copy into the sandbox.
        env: Environment variables of the code.
        prefix: Environment to install into; None for the user's folder.
        user: Whether to install for the user only, without a `prefix`.

    Raises:
        MissingDependencyError: jupyter-client is not installed.
        LanguageNotSupportedError: The language is unknown.
        UnsupportedError: The language is compiled, so that cells could not share state; or the
            backend has no images.
        ValidationError: The name or a setting is invalid.
    """
    kernelspec = require("jupyter_client.kernelspec", "jupyter")
    language = notebook_language(lang)
    if name is None:
        name = PROVISIONER if language.is_python else f"{PROVISIONER}-{language.lang}"
    if policy is not None and Path(policy).is_file():
        # Front ends start kernels in the folders of notebooks.
        policy = str(Path(policy).resolve())
    notebook = NotebookConfig(
        language.lang, backend, image, tuple(libraries), network, memory, policy
    )
    notebook.check(env or {})
    config = {**asdict(notebook), "libraries": list(libraries), "files": list(files)}
    title = display_name or f"{language.title} (sandbox)"
    described = describe_kernel(title, config, env, language.name)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernel.json").write_text(json.dumps(described, indent=1) + "\n", "utf-8")
        for logo in LOGOS.glob("logo-*"):
            shutil.copyfile(logo, Path(folder, logo.name))
        try:
            placed = kernelspec.KernelSpecManager().install_kernel_spec(
                folder, name, user=user and prefix is None, prefix=prefix
            )
        except ValueError as error:
            raise ValidationError(str(error), parameter="name") from None
    return Path(placed)
