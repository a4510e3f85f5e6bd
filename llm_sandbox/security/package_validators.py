"""Names of libraries, checked before anything installs them; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.factory import LanguageHandlerFactory

__all__ = ["validate_package_name"]


def validate_package_name(library: str, language: str) -> str:
    """Return a library's name as the language's installer is given it.

    Args:
        library: The name, with a version if need be.
        language: The language.

    Raises:
        ValidationError: It is no name of a library.
        LanguageNotSupportedError: There is no such language in this version.
    """
    return LanguageHandlerFactory.create_handler(language).validate_library(library)
