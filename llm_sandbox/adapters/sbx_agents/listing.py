"""What ``sbx`` says of its sandboxes and of itself, as data."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_sandbox.adapters.sbx_agents.cli import BACKEND, SbxCli, sbx_failure
from llm_sandbox.exceptions import SandboxError

__all__ = ["ListedSandbox", "list_sandboxes", "read_diagnosis"]

_FINE = ("pass", "ok", "skip", "skipped", "warn", "warning")


@dataclass(frozen=True)
class ListedSandbox:
    """A sandbox that ``sbx`` has."""

    name: str
    agent: str
    workspace: str
    """Its first folder; empty without one."""


def list_sandboxes(cli: SbxCli) -> list[ListedSandbox]:
    """Return the sandboxes there are.

    Raises:
        SandboxError: It does not say, or not in a form that is known.
    """
    as_json = cli.understands("ls", "--json")
    result = cli.call("ls", *(["--json"] if as_json else []))
    if result.returncode != 0:
        raise sbx_failure("listing its sandboxes", result, "try it by hand: sbx ls")
    return _from_json(result.stdout) if as_json else _from_table(result.stdout)


def _from_json(text: str) -> list[ListedSandbox]:
    try:
        found = json.loads(text or "[]")
        if isinstance(found, dict):
            found = found.get("sandboxes") or []
        return [_from_item(item) for item in found or []]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SandboxError(
            "`sbx ls --json` says its sandboxes in a form that is not known",
            backend=BACKEND,
            hint="try it by hand: sbx ls --json",
        ) from None


def _from_item(item: Mapping[str, Any]) -> ListedSandbox:
    place = item.get("workspace") or item.get("workspaces") or ""
    if isinstance(place, list):
        place = place[0]
    if isinstance(place, Mapping):
        place = place.get("path") or place.get("source") or ""
    return ListedSandbox(str(item["name"]), str(item.get("agent", "")), str(place))


def _from_table(text: str) -> list[ListedSandbox]:
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    start = lines[0].upper().find("WORKSPACE")
    found = []
    for line in lines[1:]:
        words = line.split()
        if start < 0 or len(words) < 2:
            continue
        # A path may hold spaces, and the columns before may be wider than their heads.
        place = line[start:].strip() if line[start - 1 : start] == " " else words[-1]
        found.append(ListedSandbox(words[0], words[1], place))
    return found


def read_diagnosis(cli: SbxCli, timeout: float) -> None:
    """Have ``sbx`` look at itself.

    Raises:
        SandboxError: Something is wrong; the hint says what to type.
    """
    words = _diagnosis_flags(cli)
    result = cli.call("diagnose", *words, timeout=timeout)
    by_hand = f"sbx diagnose {' '.join(words)}".strip()
    try:
        checks = json.loads(result.stdout)["checks"]
        problems = [check for check in checks if str(check.get("status", "")).lower() not in _FINE]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise sbx_failure("looking whether it is ready", result, f"by hand: {by_hand}") from None
    if not problems:
        if result.returncode != 0:
            raise sbx_failure("looking whether it is ready", result, f"by hand: {by_hand}")
        return
    said = "; ".join(_words_of(check) for check in problems)
    raise SandboxError(
        f"Docker's program sbx is not ready: {said}",
        backend=BACKEND,
        hint="\n".join(dict.fromkeys(_fix(check) for check in problems)),
        context={"checks": [str(check.get("name")) for check in problems]},
    )


def _diagnosis_flags(cli: SbxCli) -> list[str]:
    if cli.understands("diagnose", "--json"):
        return ["--json"]
    if cli.understands("diagnose", "--format"):
        return ["--format", "json"]
    return ["-o", "json"]


def _words_of(check: Mapping[str, Any]) -> str:
    message = str(check.get("message") or "").strip()
    return f"{check.get('name', 'a check')}: {message or check.get('status', 'unknown')}"


def _fix(check: Mapping[str, Any]) -> str:
    hint = str(check.get("hint") or "").removeprefix("Run:").strip()
    return hint or ("sbx login" if check.get("name") == "Authentication" else "sbx diagnose")
