"""How each language is run, installed, scanned and its plots captured: one folder per language.

Imports the words of layer 0 only; a handler is imported when it is first asked for.
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
