"""What a person says about this library once, for all their programs."""

from llm_sandbox.settings.settings import (
    MissingImages,
    Preload,
    Settings,
    get_settings,
    settings_file,
)

__all__ = ["MissingImages", "Preload", "Settings", "get_settings", "settings_file"]
