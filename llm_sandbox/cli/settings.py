"""The settings in force, and where each comes from."""

import os
from dataclasses import dataclass
from typing import Any

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.settings import Settings, get_settings, settings_file
from llm_sandbox.settings.sources import CONFIG, PREFIX, unknown_variables

__all__ = ["SettingsFinding", "look_at_settings", "table_of_settings"]


@dataclass(frozen=True)
class SettingsFinding:
    """What was found out about the settings."""

    file: str
    """Where the file of settings is looked for."""
    file_is_there: bool
    values: dict[str, str | int | None]
    """By name; empty when a value is not acceptable."""
    origins: dict[str, str]
    """By name: a variable, a file, or ``default``."""
    unknown: list[str]
    """Variables that look like settings and set nothing."""
    problem: str | None = None
    """What is wrong with them."""


def look_at_settings() -> SettingsFinding:
    """Read the settings as a session would."""
    place = os.environ.get(CONFIG) or str(settings_file(os.environ))
    is_there = os.path.exists(place)  # noqa: PTH110 - also where the folder may not be read
    unknown = unknown_variables(os.environ, Settings.names())
    try:
        settings = get_settings()
    except ValidationError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return SettingsFinding(place, is_there, {}, {}, unknown, error.message + hint)
    values = {name: _plain(getattr(settings, name)) for name in Settings.names()}
    return SettingsFinding(place, is_there, values, dict(settings.origins), unknown)


def _plain(value: object) -> str | int | None:
    return value if value is None or isinstance(value, int) else str(value)


def table_of_settings(finding: SettingsFinding) -> Any:
    """Return the settings as something that rich prints."""
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
