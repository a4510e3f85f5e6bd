"""Private clones: a branch to work on that shares no hook, configuration or file with the source
repository.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from llm_sandbox.exceptions import BackendUnavailableError, SandboxError, ValidationError

__all__ = ["PrivateClone"]

_FOLDER = "llm-sandbox/sbx-agents/clones"
_TIMEOUT_S = 600.0
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_TOLD = 1000
_SETTINGS = """\
[core]
    hooksPath = /dev/null
    fsmonitor = false
    attributesFile = /dev/null
[protocol]
    allow = never
[protocol "file"]
    allow = always
[safe]
    directory = *
[submodule]
    recurse = false
"""
"""Git configuration in place of the user's and the system's, which may name filters that a
repository's content then applies. The caller has decided to trust the owner of the repository.
"""


@dataclass(frozen=True)
class PrivateClone:
    """Clone of a repository, on a branch.

    Git only reads the source, without its hooks and configured programs, and never runs in the
    clone after a sandbox had access to it.
    """

    source: Path
    """Source repository; uncommitted changes are not in the clone."""
    branch: str
    """Branch, created at the source's current commit if it does not exist."""

    @property
    def path(self) -> Path:
        """Path of the clone: one for each source and branch, in ``$XDG_STATE_HOME``."""
        base = os.environ.get("XDG_STATE_HOME", "")
        state = Path(base) if base.startswith("/") else Path.home() / ".local" / "state"
        digest = hashlib.sha256(f"{self.source}\0{self.branch}".encode()).hexdigest()[:12]
        label = _UNSAFE.sub("-", f"{self.source.name}-{self.branch}")[:60]
        return state / _FOLDER / f"{label}-{digest}"

    def make(self) -> Path:
        """Create the clone, unless it exists from an earlier session, and return its path.

        Raises:
            ValidationError: The source is not a repository, has no commit, or the branch name is
                invalid.
            BackendUnavailableError: Git is not installed.
        """
        path = self.path
        if path.is_dir():
            return path
        self._check()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        try:
            # No hard links: a file that is written to in place would change the source's.
            options = ("--quiet", "--no-hardlinks", "--template=", "--no-local", "--single-branch")
            start = ("--branch", self.branch) if self._has_branch() else ()
            self._git("clone", *options, *start, "--", str(self.source), str(draft))
            if not start:
                self._git("-C", str(draft), "checkout", "--quiet", "-b", self.branch)
            # It would lead programs inside to a folder that is not there.
            self._git("-C", str(draft), "remote", "remove", "origin")
            self._hand_over(draft)
            draft.rename(path)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return path

    def remove(self) -> None:
        """Delete the clone; no effect if it does not exist."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _check(self) -> None:
        if self._asks("check-ref-format", "--branch", self.branch) != 0:
            raise ValidationError(f"no branch can be named {self.branch!r}", parameter="branch")
        if self._asks("-C", str(self.source), "rev-parse", "--git-dir") != 0:
            raise ValidationError(
                f"{self.source} is not a Git repository, so there is no branch to work on",
                parameter="branch",
                hint=f"git init {self.source}, and commit; or leave out branch=",
            )
        if self._asks("-C", str(self.source), "rev-parse", "--verify", "--quiet", "HEAD") != 0:
            raise ValidationError(
                f"{self.source} has no commit yet, so that there is nothing to clone",
                parameter="branch",
                hint=f"git -C {self.source} commit --allow-empty -m start",
            )

    def _has_branch(self) -> bool:
        ref = f"refs/heads/{self.branch}"
        return self._asks("-C", str(self.source), "show-ref", "--verify", "--quiet", ref) == 0

    def _hand_over(self, draft: Path) -> None:
        """Change the owner of the clone to that of the source, as whom commands run."""
        owner = self.source.stat()
        if os.geteuid() or (owner.st_uid, owner.st_gid) == (0, 0):
            return
        for folder, names, files in os.walk(draft):
            for name in (".", *names, *files):
                os.chown(Path(folder, name), owner.st_uid, owner.st_gid, follow_symlinks=False)

    def _git(self, *words: str) -> None:
        done = _run_git(words, self.source)
        if done.returncode != 0:
            raise SandboxError(
                f"git {words[0]} of {self.source} failed: {done.stderr.strip()[:_TOLD]}",
                op="prepare",
            )

    def _asks(self, *words: str) -> int:
        return _run_git(words, self.source).returncode


def _run_git(words: tuple[str, ...], source: Path) -> "subprocess.CompletedProcess[str]":
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="llm-sandbox-git-") as folder:
        settings = Path(folder, "config")
        settings.write_text(_SETTINGS, encoding="utf-8")
        environment = {
            **kept,
            "HOME": folder,
            "GIT_CONFIG_NOSYSTEM": "1",
            # A file and no variables: what Git starts in the source has to see it as well.
            "GIT_CONFIG_GLOBAL": str(settings),
            "GIT_TERMINAL_PROMPT": "0",
        }
        try:
            return subprocess.run(
                ["git", *words],
                cwd="/",
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError:
            raise BackendUnavailableError(
                f"branch= clones {source}, and git is not installed",
                hint="apt-get install git",
            ) from None
