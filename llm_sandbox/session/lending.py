"""A session's kernel in other hands."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from llm_sandbox.backends.base import Machine, RawKernel
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.kernel.client import KernelClient

__all__ = ["KernelHandle", "lend_kernel"]


@dataclass(frozen=True)
class KernelHandle:
    """A kernel that somebody else speaks to."""

    raw: RawKernel
    """Its stream and descriptors, which the taker closes."""
    signal: Callable[[int], bool]
    """Sends it a signal; False when it has ended."""


def lend_kernel(client: KernelClient | None, machine: Machine) -> KernelHandle:
    """Take a kernel from its client.

    Raises:
        UnsupportedError: There is none.
    """
    if client is None:
        raise UnsupportedError("a kernel", machine.isolation.backend, "every run is a program here")
    raw = client.release()
    return KernelHandle(raw, partial(machine.signal, raw.id))
