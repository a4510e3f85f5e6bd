"""The closed vocabularies of the library: backends, languages, and how a run ended.

Every member is a string equal to its value, prints as its value, and is found in any letter case.
"""

from enum import StrEnum
from typing import Self

__all__ = [
    "VERSION",
    "RunStatus",
    "SandboxBackend",
    "StateOutcome",
    "SupportedLanguage",
    "language_name",
]

VERSION = "0.1.0"
"""Of this library."""


class _CaseInsensitive(StrEnum):
    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        wanted = value.strip().lower()
        return next((member for member in cls if member.value == wanted), None)


class SandboxBackend(_CaseInsensitive):
    """Where a sandbox lives."""

    DOCKER = "docker"
    """A container of the Docker engine."""
    KUBERNETES = "kubernetes"
    """A pod of a Kubernetes cluster."""
    PODMAN = "podman"
    """A container of Podman, through its Docker-compatible socket."""
    MICROMAMBA = "micromamba"
    """A Docker container whose commands run inside a micromamba environment."""
    BUBBLEWRAP = "bubblewrap"
    """Namespaces on this machine through `bwrap`: the embedded default, no daemon."""
    GVISOR = "gvisor"
    """A user-space kernel (`runsc`) between the code and this machine's kernel."""
    LOCAL = "local"
    """A plain subprocess with no isolation at all; never chosen automatically."""


class SupportedLanguage(_CaseInsensitive):
    """A programming language the library knows by name."""

    PYTHON = "python"
    """Python, in a persistent IPython kernel."""
    JAVA = "java"
    """Java."""
    JAVASCRIPT = "javascript"
    """JavaScript on Node.js."""
    CPP = "cpp"
    """C++."""
    GO = "go"
    """Go."""
    RUBY = "ruby"
    """Ruby."""
    R = "r"
    """R."""
    BASH = "bash"
    """Bash."""
    TYPESCRIPT = "typescript"
    """TypeScript on Node.js, its types taken away."""


_OTHER_NAMES = {
    "py": SupportedLanguage.PYTHON,
    "python3": SupportedLanguage.PYTHON,
    "js": SupportedLanguage.JAVASCRIPT,
    "node": SupportedLanguage.JAVASCRIPT,
    "nodejs": SupportedLanguage.JAVASCRIPT,
    "ts": SupportedLanguage.TYPESCRIPT,
    "c++": SupportedLanguage.CPP,
    "cxx": SupportedLanguage.CPP,
    "golang": SupportedLanguage.GO,
    "rb": SupportedLanguage.RUBY,
    "sh": SupportedLanguage.BASH,
    "shell": SupportedLanguage.BASH,
}


def language_name(language: str) -> str:
    """The name of a language: a `SupportedLanguage` where it is one, by any usual name of it."""
    key = str(language).strip().lower()
    if key in _OTHER_NAMES:
        return _OTHER_NAMES[key]
    return SupportedLanguage(key) if key in list(SupportedLanguage) else key


class RunStatus(_CaseInsensitive):
    """How a run ended."""

    OK = "ok"
    """The code ran to its end."""
    ERROR = "error"
    """An uncaught exception, a compile error or a non-zero exit status."""
    EXITED = "exited"
    """The program asked to exit (`sys.exit`, `exit()`)."""
    TIMEOUT = "timeout"
    """The deadline passed and the run was stopped."""
    OOM = "oom"
    """The memory limit was hit and the kernel killed the run."""
    KILLED = "killed"
    """A signal that was neither the deadline nor the memory limit ended the run."""
    CRASHED = "crashed"
    """The inside broke the protocol between sandbox and host; nothing it said after is kept."""
    BLOCKED = "blocked"
    """The security policy refused the code; nothing ran."""


class StateOutcome(_CaseInsensitive):
    """What became of the interpreter's variables."""

    KEPT = "kept"
    """Variables of this and of earlier runs are there for the next run."""
    RESET = "reset"
    """The interpreter was started afresh; the next run begins with no variables."""
    LOST = "lost"
    """The interpreter is gone and was not started again."""
