"""Which closed door a failure ran into, so that a result can say what opens it."""

from llm_sandbox.backends.base import Isolation, MachineSpec
from llm_sandbox.data import ConsoleOutput
from llm_sandbox.outputs import ExecutionError

__all__ = ["explain"]

_NETWORK_ERRORS = frozenset(
    {
        "gaierror",
        "ConnectError",
        "ConnectionError",
        "ConnectionRefusedError",
        "MaxRetryError",
        "NameResolutionError",
        "NewConnectionError",
        "ProxyError",
        "URLError",
    }
)
_NETWORK_WORDS = (
    "Network is unreachable",
    "Name or service not known",
    "Temporary failure in name resolution",
    "Could not resolve host",
)
_MEMORY_WORDS = (
    "JavaScript heap out of memory",
    "Array buffer allocation failed",
    "java.lang.OutOfMemoryError",
    "std::bad_alloc",
    "fatal error: runtime: out of memory",
    "cannot allocate vector of size",
    "failed to allocate memory",
)


def explain(
    error: ExecutionError | None, output: ConsoleOutput, spec: MachineSpec, isolation: Isolation
) -> list[str]:
    """Say which limit or closed door explains a failed run.

    Args:
        error: What the interpreter reported.
        output: Its streams.
        spec: What the machine was made with.
        isolation: What holds it.

    Returns:
        Sentences; empty when nothing is recognised.
    """
    name = error.name if error is not None else ""
    text = f"{error.value if error is not None else ''}\n{output.stderr[-4000:]}"
    limits = spec.limits
    sentences = []
    closed = isolation.state("network") == "enforced"
    if closed and (name in _NETWORK_ERRORS or any(words in text for words in _NETWORK_WORDS)):
        sentences.append("This sandbox has no network; network='open' opens it.")
    if "No space left on device" in text or "Errno 28" in text:
        size = limits.workdir_bytes >> 20
        sentences.append(
            f"The working directory holds {size} MiB; Limits(workdir_bytes=...) changes that."
        )
    full = name == "MemoryError" or name.endswith("ArrayMemoryError")
    if full or any(words in text for words in _MEMORY_WORDS):
        size = limits.memory_bytes >> 20
        sentences.append(
            f"The sandbox has {size} MiB of memory; Limits(memory_bytes=...) changes that."
        )
    if name == "BlockingIOError" or "can't start new thread" in text or "Cannot fork" in text:
        sentences.append(
            f"The sandbox may run {limits.processes} processes and threads; "
            "Limits(processes=...) changes that."
        )
    if "Read-only file system" in text:
        sentences.append(f"Only {spec.workdir} and /tmp are writable.")
    if name == "StdinNotImplementedError":
        sentences.append("The code asked for input; run(code, stdin='...') answers it.")
    if name == "ModuleNotFoundError":
        sentences.append("run(code, libraries=['...']) installs a missing library.")
    return sentences
