"""Help texts, formatted for a terminal."""

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

from llm_sandbox.cli.grammar import Argument, Command, Group, Option, Parameter

__all__ = ["command_help", "group_help"]

_WIDEST = 100
_LEFT = 28


def group_help(group: Group, path: str) -> str:
    """Return the help of a group of commands."""
    rows = []
    for name in group.commands:
        found = group.get(name)
        text = found.help.partition("\n\n")[0]
        rows.append((name, " ".join(text.split())))
    own = [("--help, -h", "Show this; each command has its own.")]
    if " " not in path:
        own.append(("--version", "Show the version."))
    return "\n".join(
        [
            f"{_bold('Usage:')} {path} COMMAND ...",
            "",
            *_wrapped(group.help),
            "",
            _bold("Commands:"),
            *_table(rows),
            "",
            _bold("Options:"),
            *_table(own),
        ]
    )


def command_help(command: Command, path: str) -> str:
    """Return the help of a command."""
    parameters = command.parameters
    arguments = [one for one in parameters if isinstance(one.form, Argument)]
    options = [one for one in parameters if isinstance(one.form, Option)]
    usage = [path, "[OPTION]...", *map(_argument, arguments)]
    lines = [f"{_bold('Usage:')} {' '.join(usage)}", ""]
    for paragraph in command.help.split("\n\n"):
        lines += [*_wrapped(paragraph), ""]
    if arguments:
        rows = [(one.label, one.form.help) for one in arguments]
        lines += [_bold("Arguments:"), *_table(rows), ""]
    rows = [_option(one) for one in options]
    lines += [_bold("Options:"), *_table([*rows, ("--help, -h", "Show this.")])]
    if command.epilog:
        lines += ["", *_wrapped(command.epilog)]
    return "\n".join(lines)


def _argument(one: Parameter) -> str:
    label = one.label
    if label.startswith("["):
        return label
    dots = "..." if one.many and not label.endswith("...") else ""
    return f"{label}{dots}" if one.required else f"[{label}{dots}]"


def _option(one: Parameter) -> tuple[str, str]:
    form = one.form
    assert isinstance(form, Option)  # noqa: S101 - called for these
    names = ", ".join((*form.names, *filter(None, (form.off,))))
    if not one.is_switch:
        value = form.metavar or ("|".join(one.choices) if one.choices else "VALUE")
        names = f"{names} {value}"
    text = form.help
    default = one.default
    if default not in (None, False, "") and not one.is_switch:
        text = f"{text} [default: {default}]" if text else f"[default: {default}]"
    return names, text


def _width() -> int:
    return min(shutil.get_terminal_size().columns, _WIDEST)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), _width(), break_on_hyphens=False)


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    lines = []
    left = min(_LEFT, max(len(name) for name, _ in rows) + 2)
    for name, text in rows:
        width = max(_width() - left - 2, 20)
        wrapped = textwrap.wrap(text, width, break_on_hyphens=False) or [""]
        if len(name) > left - 2:
            lines.append(f"  {name}")
        else:
            lines.append(f"  {name.ljust(left)}{wrapped.pop(0)}".rstrip())
        lines += [f"  {'':{left}}{line}" for line in wrapped]
    return lines


def _bold(text: str) -> str:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not sys.stdout.isatty() else f"\x1b[1m{text}\x1b[0m"
