"""The closed vocabularies of the library: backends, languages, and how a run ended.

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


class DefaultImage:
    """The image of each language that a container backend uses when none is named."""

    PYTHON: ClassVar[str] = f"llm-sandbox/python:{VERSION}"
    JAVA: ClassVar[str] = f"llm-sandbox/java:{VERSION}"
    JAVASCRIPT: ClassVar[str] = f"llm-sandbox/javascript:{VERSION}"
    CPP: ClassVar[str] = f"llm-sandbox/cpp:{VERSION}"
    GO: ClassVar[str] = f"llm-sandbox/go:{VERSION}"
    RUBY: ClassVar[str] = f"llm-sandbox/ruby:{VERSION}"
    R: ClassVar[str] = f"llm-sandbox/r:{VERSION}"


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


class RunCause(_CaseInsensitive):
    """What ended a run, or which limit it ran into: the reason behind its `RunStatus`."""

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
    """It put out more than is kept: `Limits.output_bytes`, `display_bytes` or `displays`."""
    DISK = "disk"
    """A file system was full, of bytes or of files."""
    FILE_SIZE = "file_size"
    """A file met `Limits.file_size_bytes`."""
    OPEN_FILES = "open_files"
    """A process met `Limits.open_files`."""
    PERMISSION = "permission"
    """Something was not permitted: a file's permissions, or a system call that is refused."""
    NETWORK = "network"
    """It tried to reach what the sandbox's network does not lead to."""
    SIGNAL = "signal"
    """A signal ended it that none of the above explains: a crash, or one that a program sent."""
    EXIT = "exit"
    """The program exited, or ended with an exit status of its own."""
    EXCEPTION = "exception"
    """An uncaught exception, or code that does not compile, that none of the above explains."""
    POLICY = "policy"
    """The security policy refused the code."""
    PROTOCOL = "protocol"
    """The inside broke the protocol between sandbox and host."""


class StateOutcome(_CaseInsensitive):
    """What became of the interpreter's variables."""

    KEPT = "kept"
    """Variables of this and of earlier runs are there for the next run."""
    RESET = "reset"
    """The interpreter was started afresh: before this run, as a note then says, and earlier runs'
    variables are gone; or after it, and the next run begins with none."""
    LOST = "lost"
    """The interpreter is gone and was not started again."""
