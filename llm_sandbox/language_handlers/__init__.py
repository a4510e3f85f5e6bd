"""Language handlers: how each language is run, scanned, its libraries installed and its plots
captured.

One folder per language; a handler is imported on first use.
Start at `base.AbstractLanguageHandler`, then `registry`.
"""

from llm_sandbox.language_handlers.base import (
    AbstractLanguageHandler,
    ContainerProtocol,
    LanguageConfig,
    PlotDetectionConfig,
    PlotLibrary,
)
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory

__all__ = [
    "AbstractLanguageHandler",
    "ContainerProtocol",
    "LanguageConfig",
    "LanguageHandlerFactory",
    "PlotDetectionConfig",
    "PlotLibrary",
]
