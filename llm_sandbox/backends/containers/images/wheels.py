"""Download of wheels that fit the Python of an image, with the pip of this machine.

Its index, proxies and certificates are those of the user; a build in the engine has none of them.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from llm_sandbox.backends.containers.images.child import run_child
from llm_sandbox.backends.recipes import Recipe

__all__ = ["download_command", "download_wheels"]

_OLDEST_GLIBC = 17
"""Minor version of manylinux2014, the oldest glibc that wheels of today are built for."""


def download_command(
    recipe: Recipe, architecture: str, target: Path, arguments: Sequence[str] | None = None
) -> list[str]:
    """Return the pip command that downloads wheels.

    Args:
        recipe: The recipe of the image, one with a table `wheels`.
        architecture: Architecture of the image, such as ``x86_64``.
        target: An existing folder.
        arguments: Further options, and requirements; None for those of the recipe.
    """
    wheels = recipe.facts["wheels"]
    if arguments is None:
        requirements = str(recipe.folder / wheels["requirements"])
        arguments = ["--no-deps", "--require-hashes", "--requirement", requirements]
    python = str(wheels["python"])
    newest = int(str(wheels["glibc"]).split(".")[1])
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--progress-bar=off"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", str(target)]
    command += ["--python-version", python, "--implementation", "cp"]
    for abi in (f"cp{python.replace('.', '')}", "abi3", "none"):
        command += ["--abi", abi]
    # pip accepts each platform by name only; the newest first, in its own order of preference.
    for minor in range(newest, _OLDEST_GLIBC - 1, -1):
        command += ["--platform", f"manylinux_2_{minor}_{architecture}"]
    return [*command, "--platform", f"manylinux2014_{architecture}", *arguments]


def download_wheels(
    recipe: Recipe,
    architecture: str,
    target: Path,
    on_line: Callable[[str], None],
    arguments: Sequence[str] | None = None,
) -> None:
    """Download wheels into a new folder.

    Args:
        recipe: As in `download_command`, like the next two.
        architecture: See there.
        target: The folder, which is created.
        on_line: Called with each line that pip prints.
        arguments: See there.

    Raises:
        BackendError: pip failed; the message has its last lines.
    """
    target.mkdir()
    run_child(
        download_command(recipe, architecture, target, arguments),
        what=f"fetching the packages of the {recipe.name} image",
        hint="pip needs an index: see `pip config list`, PIP_INDEX_URL, PIP_CERT",
        on_line=on_line,
    )
