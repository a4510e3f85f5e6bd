"""User settings of the library."""

from llm_sandbox.settings.settings import (
    MissingImages,
    Preload,
    Settings,
    get_settings,
    settings_file,
)

__all__ = ["MissingImages", "Preload", "Settings", "get_settings", "settings_file"]
