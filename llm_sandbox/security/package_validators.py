"""Validation of library names before installation; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.factory import LanguageHandlerFactory

__all__ = ["validate_package_name"]


def validate_package_name(library: str, language: str) -> str:
    """Return the name of a library in the form that the installer of the language takes.

    Args:
        library: Name of the library, with a version if any.
        language: The language.

    Raises:
        ValidationError: The name is not valid.
        LanguageNotSupportedError: The language is not supported.
    """
    return LanguageHandlerFactory.create_handler(language).validate_library(library)
