"""Hints of a failed run: the restriction that it met, and the option that lifts it.

Hints about limits are in `session.diagnosis`.
"""

import re
from collections.abc import Sequence

from llm_sandbox.backends.base import Isolation
from llm_sandbox.data import ConsoleOutput
from llm_sandbox.network import Network, NetworkEvent
from llm_sandbox.packages.distribution_names import DISTRIBUTIONS
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["BlockedConnections", "is_offline", "restriction_hints"]

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
_NETWORK_MESSAGES = (
    "Network is unreachable",
    "Name or service not known",
    "Temporary failure in name resolution",
    "Could not resolve host",
)
_WITH_RULES = ("bubblewrap", "docker", "podman", "micromamba", "kubernetes")
"""Backends whose sandboxes may have network rules."""
_MOST_TARGETS = 3
_FROM_INSIDE = "can be installed from inside"
_MISSING = re.compile(r"No module named '(\w+)")


class BlockedConnections:
    """Connections of one sandbox that were refused or failed since this was made.

    Args:
        sandbox: The sandbox; None for none.
    """

    def __init__(self, sandbox: Sandbox | None) -> None:
        self._sandbox = sandbox
        before = sandbox.network_events() if sandbox is not None else ()
        self._last = before[-1].number if before else 0

    @property
    def network(self) -> Network:
        """The network of the sandbox."""
        return self._sandbox.network if self._sandbox is not None else "blocked"

    def events(self) -> tuple[NetworkEvent, ...]:
        """Return the events so far."""
        return self._sandbox.network_events(self._last) if self._sandbox is not None else ()


def is_offline(error: ExecutionError | None, output: ConsoleOutput) -> bool:
    """Return whether a failure is that of an unreachable network."""
    name = error.name if error is not None else ""
    text = f"{error.value if error is not None else ''}\n{output.stderr[-4000:]}"
    return name in _NETWORK_ERRORS or any(words in text for words in _NETWORK_MESSAGES)


def restriction_hints(
    error: ExecutionError | None,
    output: ConsoleOutput,
    workdir: str,
    isolation: Isolation,
    network: Network = "blocked",
    blocked: Sequence[NetworkEvent] = (),
) -> list[str]:
    """Return the sentences that name the restrictions which explain a failed run.

    Args:
        error: The interpreter's error.
        output: The run's streams.
        workdir: The sandbox's working directory.
        isolation: The sandbox's isolation.
        network: The sandbox's network.
        blocked: The run's connections that were refused or failed.

    Returns:
        Sentences; none when nothing is recognised.
    """
    name = error.name if error is not None else ""
    text = f"{error.value if error is not None else ''}\n{output.stderr[-4000:]}"
    sentences = []
    offline = is_offline(error, output)
    if blocked and (offline or output.exit_code != 0):
        sentences += _blocked_hints(blocked)
    elif offline and isolation.state("network") == "enforced":
        sentences.append(_network_hint(network, isolation))
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


def _blocked_hints(blocked: Sequence[NetworkEvent]) -> list[str]:
    """Return a sentence for each of the last targets, and one that counts the rest."""
    latest = list(dict.fromkeys((one.verdict, one.hint) for one in reversed(blocked)))
    words = {"denied": "The network rules blocked a connection", "failed": "A connection failed"}
    sentences = [f"{words[verdict]}: {hint}." for verdict, hint in latest[:_MOST_TARGETS]]
    if len(latest) > _MOST_TARGETS:
        sentences.append(f"There were {len(latest) - _MOST_TARGETS} more; see result.network.")
    return sentences


def _network_hint(network: Network, isolation: Isolation) -> str:
    if "HTTPS_PROXY" in isolation.controls["network"].by:
        return (
            "Only the proxy that HTTPS_PROXY names leads out of this sandbox, for HTTP and TLS; "
            "what ignores that variable has no network."
        )
    if network != "blocked":
        return "Only TCP leaves this sandbox, and only to IPv4 addresses and to names."
    if isolation.backend not in _WITH_RULES:
        return "This sandbox has no network; network='open' opens it."
    return (
        "This sandbox has no network; network='open' opens it, network='internet' what is public "
        "of it, and network=NetworkRules.allow(domains=['...']) what it names."
    )
