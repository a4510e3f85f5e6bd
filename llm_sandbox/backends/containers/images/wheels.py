"""Fetching a recipe's Python packages, with the pip of this machine.

Its index, proxies and certificates are those the user has set up; a build inside the engine would
have none of them.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from llm_sandbox.backends.containers.images.child import run_child
from llm_sandbox.backends.recipes import Recipe

__all__ = ["download_command", "fetch_wheels"]

_OLDEST_GLIBC = 17
"""Of wheels: manylinux2014, which is the same, is as old as any of today's go."""


def download_command(recipe: Recipe, architecture: str, target: Path) -> list[str]:
    """The pip command that fetches the wheels of a recipe.

    Args:
        recipe: One with a table `wheels`.
        architecture: Of the image, such as ``x86_64``.
        target: An existing folder.
    """
    wheels = recipe.facts["wheels"]
    python = wheels["python"]
    newest = int(wheels["glibc"].split(".")[1])
    tag = f"cp{python.replace('.', '')}"
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--no-deps"]
    command += ["--disable-pip-version-check", "--progress-bar=off", "--only-binary=:all:"]
    command += ["--require-hashes", "--requirement", str(recipe.folder / wheels["requirements"])]
    command += ["--dest", str(target), "--python-version", python, "--implementation", "cp"]
    for abi in (tag, "abi3", "none"):
        command += ["--abi", abi]
    # pip wants each platform by name; the newest first, as it would choose itself.
    for minor in range(newest, _OLDEST_GLIBC - 1, -1):
        command += ["--platform", f"manylinux_2_{minor}_{architecture}"]
    return [*command, "--platform", f"manylinux2014_{architecture}"]


def fetch_wheels(
    recipe: Recipe, architecture: str, target: Path, on_line: Callable[[str], None]
) -> None:
    """Put the wheels of a recipe into a folder.

    Raises:
        BackendError: pip failed; the message has its last lines.
    """
    target.mkdir()

    def hear(line: str) -> None:
        if line.startswith("Collecting "):
            on_line(line.split()[1])

    run_child(
        download_command(recipe, architecture, target),
        what=f"fetching the packages of the {recipe.name} image",
        hint="pip needs an index: see `pip config list`, PIP_INDEX_URL, PIP_CERT",
        on_line=hear,
    )
