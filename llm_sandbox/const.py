"""Enumerations of the library: backends, languages, ends of runs.

Every member is a string equal to its value, prints as its value, and is found in any letter case.
"""

from enum import StrEnum
from typing import ClassVar, Self

__all__ = [
    "VERSION",
    "DefaultImage",
    "RunCause",
    "RunStatus",
    "SandboxBackend",
    "StateOutcome",
    "SupportedLanguage",
    "language_name",
]

VERSION = "0.1.0"
"""Version of this library."""


class _CaseInsensitive(StrEnum):
    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        wanted = value.strip().lower()
        return next((member for member in cls if member.value == wanted), None)


class SandboxBackend(_CaseInsensitive):
    """Names of the backends."""

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
    """Plain subprocesses without isolation; never chosen automatically."""


class SupportedLanguage(_CaseInsensitive):
    """Languages supported by the library."""

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
    """TypeScript on Node.js, with types stripped."""


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
    """Return the canonical name of a language from an alias, as `SupportedLanguage` if possible."""
    key = str(language).strip().lower()
    if key in _OTHER_NAMES:
        return _OTHER_NAMES[key]
    return SupportedLanguage(key) if key in list(SupportedLanguage) else key


class DefaultImage:
    """Default image of each language on container backends."""

    PYTHON: ClassVar[str] = f"llm-sandbox/python:{VERSION}"
    JAVA: ClassVar[str] = f"llm-sandbox/java:{VERSION}"
    JAVASCRIPT: ClassVar[str] = f"llm-sandbox/javascript:{VERSION}"
    CPP: ClassVar[str] = f"llm-sandbox/cpp:{VERSION}"
    GO: ClassVar[str] = f"llm-sandbox/go:{VERSION}"
    RUBY: ClassVar[str] = f"llm-sandbox/ruby:{VERSION}"
    R: ClassVar[str] = f"llm-sandbox/r:{VERSION}"


class RunStatus(_CaseInsensitive):
    """Status of an ended run."""

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
    """The sandbox violated its protocol with the host; later messages are discarded."""
    BLOCKED = "blocked"
    """The security policy refused the code; nothing ran."""


class RunCause(_CaseInsensitive):
    """Cause of a run's `RunStatus`, such as a limit."""

    TIMEOUT = "timeout"
    """The deadline of the run, or of the session, passed."""
    INTERRUPT = "interrupt"
    """`interrupt()`, or closing the session, stopped it."""
    CPU = "cpu"
    """A process used up `Limits.cpu_seconds`."""
    MEMORY = "memory"
    """An allocation failed, or processes were killed, at `Limits.memory_bytes`."""
    PROCESSES = "processes"
    """No more processes or threads could be started: `Limits.processes`."""
    OUTPUT = "output"
    """Output exceeded a limit: `Limits.output_bytes`, `display_bytes` or `displays`."""
    DISK = "disk"
    """A file system was full, of bytes or of files."""
    FILE_SIZE = "file_size"
    """A file reached `Limits.file_size_bytes`."""
    OPEN_FILES = "open_files"
    """A process reached `Limits.open_files`."""
    PERMISSION = "permission"
    """Something was not permitted: a file's permissions, or a system call that is refused."""
    NETWORK = "network"
    """A connection was blocked by the sandbox's network."""
    SIGNAL = "signal"
    """A signal not explained by the above: a crash, or one sent by a program."""
    EXIT = "exit"
    """The program exited by itself."""
    EXCEPTION = "exception"
    """An uncaught exception or a compile error not explained by the above."""
    POLICY = "policy"
    """The security policy refused the code."""
    PROTOCOL = "protocol"
    """The sandbox violated its protocol with the host."""


class StateOutcome(_CaseInsensitive):
    """State of the interpreter's variables after a run."""

    KEPT = "kept"
    """Variables of this and earlier runs are available to the next run."""
    RESET = "reset"
    """The interpreter was restarted: before this run, so that earlier variables are lost, as a note
    says; or after it, so that the next run starts without variables.
    """
    LOST = "lost"
    """The interpreter ended and was not restarted."""
