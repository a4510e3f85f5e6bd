"""Sandboxes of Docker's ``sbx``: listing, diagnosis, creation, commands."""

import contextlib
import hashlib
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_sandbox.adapters.sbx_agents.cli import BACKEND, SbxCli, sbx_failure
from llm_sandbox.adapters.sbx_agents.credentials import read_codex_login
from llm_sandbox.adapters.sbx_agents.results import CommandResult
from llm_sandbox.adapters.sbx_agents.session import SandboxSession
from llm_sandbox.exceptions import SandboxError, UnsupportedError, ValidationError

__all__ = ["ListedSandbox", "SbxRequest", "list_sandboxes", "read_diagnosis", "refuse_variables"]

_FINE = ("pass", "ok", "skip", "skipped", "warn", "warning")


@dataclass(frozen=True)
class ListedSandbox:
    """Sandbox in the list of ``sbx``."""

    name: str
    agent: str
    workspace: str
    """First workspace folder; empty without one."""


def list_sandboxes(cli: SbxCli) -> list[ListedSandbox]:
    """Return all sandboxes of ``sbx``.

    Raises:
        SandboxError: The call failed, or its output has an unknown form.
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
    path = item.get("workspace") or item.get("workspaces") or ""
    if isinstance(path, list):
        path = path[0]
    if isinstance(path, Mapping):
        path = path.get("path") or path.get("source") or ""
    return ListedSandbox(str(item["name"]), str(item.get("agent", "")), str(path))


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
        path = line[start:].strip() if line[start - 1 : start] == " " else words[-1]
        found.append(ListedSandbox(words[0], words[1], path))
    return found


def read_diagnosis(cli: SbxCli, timeout: float) -> None:
    """Check that ``sbx`` is ready with ``sbx diagnose``.

    Raises:
        SandboxError: A check failed; the hint has the command that fixes it.
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


_CREATE_S = 900.0
_STRIPPED = ("codex", "opencode")
"""Agents whose program ``sbx run`` starts itself, so that it takes only the arguments of a command.
"""
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+", re.ASCII)
_COPY = "umask 077 && mkdir -p ~/.codex && cat > ~/.codex/auth.json"


def refuse_variables(session: SandboxSession) -> None:
    """Refuse environment variables, which ``sbx run`` does not forward.

    Raises:
        UnsupportedError: The session has environment variables.
    """
    given = session.metadata
    names = sorted({*(given.get("env") or {}), *(given.get("secret_env_names") or ())})
    if names:
        raise UnsupportedError(
            f"handing on variables ({', '.join(names)})",
            BACKEND,
            "no option of `sbx run` for them is known",
            hint="leave out env=, forward_env= and secret_env= of the run and env= of the agent; "
            "keys of services are kept by `sbx secret set`; or engine='builtin'",
        )


@dataclass(frozen=True)
class SbxRequest:
    """Description of the ``sbx`` sandbox to create or find for an agent."""

    cli: SbxCli
    agent: str
    workspace: Path
    name: str | None
    cpus: int | None
    memory: str | None
    image: str | None

    def find(self) -> str | None:
        """Return the sandbox with this name and kind of agent, or without a name of this kind and
        workspace; None for none.

        Raises:
            ValidationError: The name belongs to a sandbox of another agent.
        """
        listed = list_sandboxes(self.cli)
        if self.name is None:
            return next((one.name for one in listed if self._is_alike(one)), None)
        for one in listed:
            if one.name == self.name:
                if one.agent != self.agent:
                    raise ValidationError(
                        f"sbx has a sandbox {self.name!r} of agent {one.agent}",
                        parameter="name",
                        hint=f"another name, or: sbx rm {self.name}",
                    )
                return one.name
        return None

    def remove_all(self) -> None:
        """Remove the sandbox of this name, and all of this kind and workspace."""
        for one in list_sandboxes(self.cli):
            if one.name == self.name or self._is_alike(one):
                self.remove(one.name)

    def remove(self, name: str) -> None:
        """Remove a sandbox.

        Raises:
            SandboxError: The removal failed.
        """
        force = ["--force"] if self.cli.understands("rm", "--force") else []
        result = self.cli.call("rm", *force, name)
        if result.returncode != 0:
            raise sbx_failure(f"removing {name}", result, f"by hand: sbx rm {name}")

    def remove_if_there(self, name: str) -> None:
        """Remove a sandbox if it exists."""
        if any(one.name == name for one in list_sandboxes(self.cli)):
            self.remove(name)

    def make(self) -> str:
        """Create a sandbox and return its name.

        Raises:
            UnsupportedError: The installed ``sbx`` lacks an option.
            SandboxError: The creation failed.
        """
        name = self.name or self._own_name()
        words = ["create"]
        if self._takes("create", "--quiet"):
            words.append("--quiet")
        options: tuple[tuple[str, str, str | None], ...] = (
            ("name", "--name", name),
            ("cpus", "--cpus", None if self.cpus is None else str(self.cpus)),
            ("memory", "--memory", self.memory),
            ("image", "--template", self.image),
        )
        for field, flag, value in options:
            if value is None:
                continue
            if not self._takes("create", flag):
                raise UnsupportedError(
                    f"{field}=",
                    BACKEND,
                    f"this version of it has no {flag}",
                    hint=f"leave out {field}=, or update sbx",
                )
            words += [flag, value]
        result = self.cli.call(*words, self.agent, str(self.workspace), timeout=_CREATE_S)
        if result.returncode != 0:
            by_hand = f"by hand: sbx create --name {name} {self.agent} {self.workspace}"
            raise sbx_failure(f"making a sandbox for {self.agent}", result, by_hand)
        return name

    def allow(self, name: str, resources: Sequence[str]) -> None:
        """Allow one sandbox to connect to a destination; the rule ends with the sandbox.

        Raises:
            UnsupportedError: The installed ``sbx`` only has rules for all sandboxes.
            SandboxError: The call failed.
        """
        if not resources:
            return
        verb, joined = "policy allow network", ",".join(resources)
        if self.cli.understands(verb, "--sandbox"):
            words = [*verb.split(), "--sandbox", name, joined]
        elif "SANDBOX" in self.cli.usage(verb):
            words = [*verb.split(), name, joined]
        else:
            raise UnsupportedError(
                "network_allow=",
                BACKEND,
                "this version of it has no rules for one sandbox, and those for all stay",
                hint="update sbx; or engine='builtin'; or allow them for every sandbox of this "
                f"machine yourself: sbx policy allow network {joined}",
            )
        result = self.cli.call(*words)
        if result.returncode != 0:
            raise sbx_failure("allowing hosts", result, f"by hand: sbx {' '.join(words)}")

    def copy_codex_login(self, name: str) -> None:
        """Copy the host's Codex login into a sandbox, readable by its user only.

        Raises:
            SandboxError: The host has no login, or the copy failed.
        """
        # By standard input, so that the file never lies there for others to read.
        result = self.cli.call("exec", "-i", name, "sh", "-c", _COPY, given=read_codex_login())
        if result.returncode != 0:
            raise sbx_failure(
                "copying the sign-in of Codex", result, f"by hand: sbx exec -it {name} sh"
            )

    def run(
        self, name: str, session: SandboxSession, command: Sequence[str], *, keep: bool
    ) -> CommandResult:
        """Run a command in a sandbox.

        Args:
            name: Name of the sandbox.
            session: Session, whose timeout and streaming options apply.
            command: Program and arguments.
            keep: Whether the sandbox is kept, in versions of ``sbx`` that would remove it.

        Raises:
            subprocess.TimeoutExpired: The timeout passed; the sandbox was stopped.
        """
        given = session.metadata
        inner = list(command)
        if self.agent in _STRIPPED and inner[:1] == [self.agent]:
            inner = inner[1:]
        by_place = re.search(r"\bSANDBOX\s*\|", self.cli.usage("run")) is not None
        stays = ["--no-remove"] if keep and self.cli.understands("run", "--no-remove") else []
        words = ["run", *stays, *([name] if by_place else ["--name", name]), "--", *inner]
        try:
            result = self.cli.follow(
                words,
                timeout=given.get("timeout_seconds"),
                stream=bool(given.get("stream_output")),
                line_filter=given.get("stream_filter"),
            )
        except subprocess.TimeoutExpired as error:
            self._stop(name)
            error.cmd = list(command)
            raise
        result.metadata["sandbox_id"] = name
        return result

    def _stop(self, name: str) -> None:
        """Stop the programs in a sandbox, which do not end with the local ``sbx`` process."""
        with contextlib.suppress(SandboxError):
            if self.cli.help("stop") and self.cli.call("stop", name).returncode == 0:
                return
        self.remove(name)

    def _takes(self, verb: str, flag: str) -> bool:
        # Options of `create` are listed by it, in other versions by its subcommands.
        return self.cli.understands(verb, flag) or self.cli.understands(
            f"{verb} {self.agent}", flag
        )

    def _is_alike(self, one: ListedSandbox) -> bool:
        return one.agent == self.agent and one.workspace == str(self.workspace)

    def _own_name(self) -> str:
        digest = hashlib.sha256(str(self.workspace).encode()).hexdigest()[:8]
        path = _UNSAFE.sub("-", self.workspace.name).strip("-.")[:32] or "workspace"
        return f"{self.agent}-{path}-{digest}"
