"""Validation of library names before installation; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.factory import LanguageHandlerFactory

__all__ = ["validate_package_name"]


def validate_package_name(library: str, language: str) -> str:
    """Return the name of a library in the form that the installer of the language takes.

    Args:
        library: The name, with a version if need be.
        language: The language.

    Raises:
        ValidationError: It is no name of a library.
        LanguageNotSupportedError: There is no such language in this version.
    """
    return LanguageHandlerFactory.create_handler(language).validate_library(library)
