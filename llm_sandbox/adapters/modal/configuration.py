"""Configuration of the adapter: the backend and the defaults that Modal's API has no parameters
for.
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
    """Settings made by `configure`."""

    backend: str | None = None
    """Name of the backend; None for the library's choice, or that of ``LLM_SANDBOX_BACKEND``."""
    limits: Limits = Limits()  # noqa: RUF009 - frozen, and the defaults of every sandbox
    """Limits of sandboxes for which the program sets none."""
    network: Network = "internet"
    """Network of sandboxes for which the program sets none."""
    strict: bool = True
    """Refusal of parameters that only Modal's cloud honours; False records them in
    `Sandbox.ignored`.
    """
    tls: Literal["self-signed"] | None = None
    """``self-signed`` if ``encrypted_ports`` are encrypted with a self-signed certificate."""


_configuration = Configuration()


def configuration() -> Configuration:
    """Return the current configuration."""
    return _configuration


def configure(
    *,
    backend: str | None = _UNCHANGED,
    limits: Limits = _UNCHANGED,
    network: Network = _UNCHANGED,
    strict: bool = _UNCHANGED,
    tls: Literal["self-signed"] | None = _UNCHANGED,
) -> Configuration:
    """Configure how sandboxes are created in this process; omitted arguments keep their value.

    Args:
        backend: ``docker``, ``podman``, ``bubblewrap``, ``gvisor`` or another; None, the default,
            for the library's choice.
        limits: Limits of sandboxes for which the program sets none; by default those of `Limits`.
        network: Network of sandboxes that are created without ``block_network`` and without an
            allowlist; ``internet``, the default, is everything public.
        strict: Whether parameters that only Modal's cloud can honour, such as ``region``, are
            refused (the default); if False they are recorded in `Sandbox.ignored`.
        tls: ``self-signed`` encrypts ``encrypted_ports`` with a certificate made for each sandbox,
            which clients find in `Tunnel.certificate`; None, the default, refuses them.

    Returns:
        The previous configuration: ``configure(**vars(before))`` restores it.

    Raises:
        InvalidError: A value is invalid.
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
    """Refuse a parameter that only Modal's cloud honours, or return its name to be recorded.

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
    """Print the progress of image builds on standard error inside a ``with`` block."""
    global _shows_output
    before, _shows_output = _shows_output, True
    try:
        yield
    finally:
        _shows_output = before


def say(words: str) -> None:
    """Print a step of an image build if `enable_output` is active."""
    if _shows_output:
        sys.stderr.write(f"{words}\n")
    logger.debug("%s", words)
