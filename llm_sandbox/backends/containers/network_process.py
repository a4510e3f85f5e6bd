"""Finding the network namespace of a container from outside, where that can be done at all."""

import os

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.guest.linux import network_name

__all__ = ["find_network_process"]

_FEATURE = "a network with rules"
_HINT = (
    "use backend='bubblewrap', to which any user can give rules, or run this as root on the "
    "engine's machine"
)


def find_network_process(engine: Engine, container: str, network: object) -> int:
    """Return the number of process 1 of a container, as this process sees it.

    Args:
        engine: The container's engine.
        container: Its id.
        network: What its supervisor said that its network is; see `guest.linux.network_name`.

    Raises:
        UnsupportedError: This process may not enter the container's network, or the container does
            not run on this kernel.
    """
    if os.geteuid() != 0:
        raise UnsupportedError(
            _FEATURE, engine.name, "only root can enter the network of a container", hint=_HINT
        )
    with engine.errors("inspect", container):
        process = int(engine.api.inspect_container(container)["State"].get("Pid") or 0)
    # A number means nothing on another computer, or in a container of its own: what stands for it
    # there may be anything, and so may its network.
    found = network_name(process) if process > 0 else ""
    if not found or found != network or found == network_name():
        raise UnsupportedError(
            _FEATURE,
            engine.name,
            "its engine runs on another machine, in another container, or with a runtime that has "
            "a network of its own",
            hint=_HINT,
        )
    return process
