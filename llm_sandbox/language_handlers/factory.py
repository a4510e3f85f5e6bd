"""Factory of language handlers by the name of the language."""

import logging

from llm_sandbox.language_handlers import registry
from llm_sandbox.language_handlers.base import AbstractLanguageHandler

__all__ = ["LanguageHandlerFactory"]


class LanguageHandlerFactory:
    """Factory of handlers, with the methods of the registry under the names of the reference
    API.
    """

    @classmethod
    def create_handler(
        cls, language: str, logger: logging.Logger | None = None
    ) -> AbstractLanguageHandler:
        """Return a new handler of a language.

        Raises:
            LanguageNotSupportedError: the language is unknown or not available in this version.
        """
        return registry.load(language)(logger)

    @classmethod
    def get_supported_languages(cls) -> list[str]:
        """Return the names of the languages that can be used here, sorted."""
        return registry.available()

    @classmethod
    def register_handler(cls, language: str, handler_class: type[AbstractLanguageHandler]) -> None:
        """Use `handler_class` for a language in this process.

        Raises:
            ValidationError: `handler_class` is not a handler class.
        """
        registry.register(language, handler_class)
