"""Where this library's sandboxes live when a program says what Modal's programs say: the one thing
that they do not say.
"""

import contextlib
import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from llm_sandbox.adapters.modal.exception import InvalidError, UnimplementedError
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.limits import Limits
from llm_sandbox.network import Network

__all__ = ["Configuration", "configuration", "configure", "enable_output", "refuse", "say"]

logger = logging.getLogger(__name__)

_UNCHANGED: Any = object()
_shows_output = False


@dataclass(frozen=True)
class Configuration:
    """What `configure` was told."""

    backend: str | None = None
    """Where sandboxes live; None for what the library picks, or ``LLM_SANDBOX_BACKEND`` names."""
    limits: Limits = Limits()  # noqa: RUF009 - frozen, and the defaults of every sandbox
    """What they may use where the program does not say."""
    network: Network = "internet"
    """What they may reach unless the program says."""
    strict: bool = True
    """Whether what only Modal's cloud can do is refused; else it is recorded in
    `Sandbox.ignored`."""
    tls: Literal["self-signed"] | None = None
    """Whether ``encrypted_ports`` are encrypted, by a certificate that nobody else vouches for."""


_configuration = Configuration()


def configuration() -> Configuration:
    """What holds now."""
    return _configuration


def configure(
    *,
    backend: str | None = _UNCHANGED,
    limits: Limits = _UNCHANGED,
    network: Network = _UNCHANGED,
    strict: bool = _UNCHANGED,
    tls: Literal["self-signed"] | None = _UNCHANGED,
) -> Configuration:
    """Say where and how sandboxes are made from now on in this process; what is left out stays.

    Args:
        backend: ``docker``, ``podman``, ``bubblewrap``, ``gvisor`` or another; None, the default,
            for what the library picks.
        limits: What a sandbox may use where the program says nothing; the defaults of `Limits`.
        network: What it may reach unless it is created with ``block_network`` or an allowlist;
            ``internet``, the default, is everything public.
        strict: Whether parameters that only Modal's cloud can honour, such as ``region``, are
            refused, as they are unless this is False; they are then recorded in `Sandbox.ignored`.
        tls: ``self-signed`` gives ``encrypted_ports`` a certificate made for each sandbox, which
            clients trust by `Tunnel.certificate`; None, the default, refuses them.

    Returns:
        What held before, as keyword arguments' values: ``configure(**vars(before))`` restores it.

    Raises:
        InvalidError: A value is not acceptable.
    """
    global _configuration
    given = {
        "backend": backend,
        "limits": limits,
        "network": network,
        "strict": strict,
        "tls": tls,
    }
    changes: dict[str, Any] = {
        name: value for name, value in given.items() if value is not _UNCHANGED
    }
    if not isinstance(changes.get("strict", True), bool):
        raise InvalidError("strict is True or False", parameter="strict")
    if not isinstance(changes.get("limits", _configuration.limits), Limits):
        raise InvalidError("limits is a Limits", parameter="limits", hint="llm_sandbox.Limits(...)")
    if changes.get("tls") not in (None, "self-signed"):
        raise InvalidError("tls is 'self-signed' or None", parameter="tls")
    before = _configuration
    if changes.get("backend") is not None:
        from llm_sandbox.backends.registry import get_backend

        with translated():
            get_backend(str(changes["backend"]).lower())
    _configuration = replace(before, **changes)
    return before


def refuse(feature: str, why: str, *, hint: str | None = None) -> str:
    """Refuse what only Modal's cloud can do; return its name if that is to be recorded only.

    Raises:
        UnimplementedError: `Configuration.strict` holds.
    """
    if _configuration.strict:
        other = "modal.configure(strict=False) leaves it out, and records that in Sandbox.ignored"
        raise UnimplementedError(feature, None, why, hint=hint or other)
    logger.warning("%s is left out: %s", feature, why)
    return feature


@contextlib.contextmanager
def enable_output() -> Iterator[None]:
    """Show, for a block, on standard error how images are built."""
    global _shows_output
    before, _shows_output = _shows_output, True
    try:
        yield
    finally:
        _shows_output = before


def say(words: str) -> None:
    """Tell of a step of a build, if `enable_output` holds."""
    if _shows_output:
        sys.stderr.write(f"{words}\n")
    logger.debug("%s", words)
