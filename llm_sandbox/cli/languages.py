"""What `llm-sandbox doctor` says of languages: the programs that run them, and their images."""

import platform
import re
import shutil
import subprocess
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from llm_sandbox.backends.host_root import SEARCH_PATH
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.const import SupportedLanguage
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.language_handlers import registry

__all__ = ["LanguageFinding", "look_at_languages", "table_of_languages"]

_ASK = {"go": "version"}
"""What makes a program say its version, where it is not ``--version``."""
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_WITHIN_S = 10.0
_PROGRAMS_AT_ONCE = 4


@dataclass(frozen=True)
class LanguageFinding:
    """What was found out about one language."""

    name: str
    works: bool
    """Whether sandboxes that have this computer's programs can run it."""
    keeps_state: bool | None = None
    """Whether a session keeps variables; None when the language cannot be loaded."""
    programs: dict[str, str | None] = field(default_factory=dict)
    """Version of each program that runs it: empty when it does not say; None when it is missing."""
    image: str | None = None
    """The image of its container sessions; None when this version brings none."""
    engines: list[str] = field(default_factory=list)
    """The engines that have that image."""
    problem: str | None = None
    hint: str | None = None
    """What to install."""


def look_at_languages(engines: Collection[str]) -> list[LanguageFinding]:
    """Look for the programs and images of every language.

    Args:
        engines: Names of the backends whose engines answer.
    """
    names = registry.available()
    with ThreadPoolExecutor(_PROGRAMS_AT_ONCE) as pool:
        # Some programs take half a second to say who they are.
        return list(pool.map(lambda name: _look_at(name, engines), names))


def _look_at(name: str, engines: Collection[str]) -> LanguageFinding:
    try:
        handler = registry.load(name)()
        needs = handler.toolchain
        keeps_state = needs is None or handler.interpreter("") is not None
    except SandboxError as error:
        return LanguageFinding(name, works=False, problem=error.message, hint=error.hint)
    except Exception as error:  # noqa: BLE001 - a language from another package may do anything
        return LanguageFinding(name, works=False, problem=f"{type(error).__name__}: {error}")
    programs = {program: _version(program) for program in needs.programs} if needs else {}
    if name == SupportedLanguage.PYTHON:
        programs = {"python": platform.python_version()}
    works = None not in programs.values()
    hint = None
    if needs is not None and not works:
        hint = f"apt-get install {' '.join(needs.packages)}"
    image, having = _look_for_image(name, engines)
    return LanguageFinding(name, works, keeps_state, programs, image, having, hint=hint)


def _version(program: str) -> str | None:
    path = shutil.which(program, path=SEARCH_PATH)
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, _ASK.get(program, "--version")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(done.stdout)
    return found[0] if found and done.returncode == 0 else ""


def _look_for_image(name: str, engines: Collection[str]) -> tuple[str | None, list[str]]:
    from llm_sandbox.backends.recipes import (
        image_name,
        recipe_name,
        recipe_names,
    )

    if recipe_name(name) not in recipe_names():
        return None, []
    image = image_name(name)
    having = []
    for engine in engines:
        try:
            if get_backend(engine).images.find(image) is not None:
                having.append(engine)
        except SandboxError:
            continue  # the table of backends says what is wrong with it
    return image, having


# --- for people


def table_of_languages(findings: Sequence[LanguageFinding]) -> Any:
    """Return the findings as a table of `rich`."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Languages", title_justify="left", title_style="bold")
    for title in ("language", "works here", "programs", "state", "images in", "what to do"):
        table.add_column(title, overflow="fold")
    for found in findings:
        works = Text("yes", "green") if found.works else Text("no", "red")
        state = {True: "kept", False: "none", None: ""}[found.keeps_state]
        row = (_programs(found), state, ", ".join(found.engines), _advice(found))
        table.add_row(found.name, works, *map(strip_controls, row))
    return table


def _programs(found: LanguageFinding) -> str:
    return "\n".join(
        f"{name} is missing" if version is None else f"{name} {version}".rstrip()
        for name, version in found.programs.items()
    )


def _advice(found: LanguageFinding) -> str:
    return "\n".join(filter(None, (found.problem, found.hint)))
