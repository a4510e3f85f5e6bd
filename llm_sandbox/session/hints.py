"""Which closed door a failure ran into, so that a result can say what opens it.

Limits are `session.diagnosis`.
"""

import re
from collections.abc import Sequence

from llm_sandbox.backends.base import Isolation
from llm_sandbox.data import ConsoleOutput
from llm_sandbox.network import Network, NetworkEvent
from llm_sandbox.packages.distribution_names import DISTRIBUTIONS
from llm_sandbox.results.outputs import ExecutionError

__all__ = ["explain", "is_offline"]

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
_GATED = ("bubblewrap", "docker", "podman", "micromamba")
"""Backends whose sandboxes may have rules."""
_MOST_TARGETS = 3
_FROM_INSIDE = "can be installed from inside"
_MISSING = re.compile(r"No module named '(\w+)")


def is_offline(error: ExecutionError | None, output: ConsoleOutput) -> bool:
    """Whether a failure is that of a network which is not there."""
    name = error.name if error is not None else ""
    text = f"{error.value if error is not None else ''}\n{output.stderr[-4000:]}"
    return name in _NETWORK_ERRORS or any(words in text for words in _NETWORK_WORDS)


def explain(
    error: ExecutionError | None,
    output: ConsoleOutput,
    workdir: str,
    isolation: Isolation,
    network: Network = "blocked",
    attempts: Sequence[NetworkEvent] = (),
) -> list[str]:
    """Say which closed door explains a failed run.

    Args:
        error: What the interpreter reported.
        output: Its streams.
        workdir: The sandbox's working directory.
        isolation: What holds it.
        network: What it may reach.
        attempts: What it tried to reach in vain.

    Returns:
        Sentences; empty when nothing is recognised.
    """
    name = error.name if error is not None else ""
    text = f"{error.value if error is not None else ''}\n{output.stderr[-4000:]}"
    sentences = []
    offline = is_offline(error, output)
    if attempts and (offline or output.exit_code != 0):
        sentences += _closed(attempts)
    elif offline and isolation.state("network") == "enforced":
        sentences.append(_nothing_open(network, isolation))
    if "Read-only file system" in text:
        sentences.append(f"Only {workdir} and /tmp are writable.")
    if name == "StdinNotImplementedError" or (error is not None and error.kind == "input"):
        sentences.append("The code asked for input; run(code, stdin='...') answers it.")
    if name == "ModuleNotFoundError" or (name == "UsageError" and _FROM_INSIDE in text):
        sentences.append("run(code, libraries=['...']) installs a missing library.")
        missing = _MISSING.search(text) if name == "ModuleNotFoundError" else None
        distribution = DISTRIBUTIONS.get(missing[1]) if missing is not None else None
        if distribution is not None:
            sentences.append(f"The library is called {distribution}.")
    return sentences


def _closed(attempts: Sequence[NetworkEvent]) -> list[str]:
    """A sentence for each of the last targets, and how many more there are."""
    latest = list(dict.fromkeys((one.verdict, one.hint) for one in reversed(attempts)))
    words = {"denied": "The network rules closed a door", "failed": "The network failed"}
    sentences = [f"{words[verdict]}: {hint}." for verdict, hint in latest[:_MOST_TARGETS]]
    if len(latest) > _MOST_TARGETS:
        sentences.append(f"There were {len(latest) - _MOST_TARGETS} more; see result.network.")
    return sentences


def _nothing_open(network: Network, isolation: Isolation) -> str:
    if network != "blocked":
        return "Only TCP leaves this sandbox, and only to IPv4 addresses and to names."
    if isolation.backend not in _GATED:
        return "This sandbox has no network; network='open' opens it."
    return (
        "This sandbox has no network; network='open' opens it, network='internet' what is public "
        "of it, and network=NetworkRules.allow(domains=['...']) what it names."
    )
