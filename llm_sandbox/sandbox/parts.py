"""Parts of a sandbox, for the rest of the library: callers have `Sandbox` alone."""

from llm_sandbox.backends.base import Machine
from llm_sandbox.sandbox.network import NetworkControl
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["machine_of", "network_of"]


def machine_of(sandbox: Sandbox) -> Machine:
    """Return the machine of a sandbox, to start more in it than programs."""
    return sandbox._machine


def network_of(sandbox: Sandbox) -> NetworkControl:
    """Return what controls the network of a sandbox."""
    return sandbox._network
