"""Registry of language handlers: built-in, registered, or from an installed package.

A package adds one through the entry point group `llm_sandbox.languages`, name to handler class.
"""

from importlib import import_module
from typing import TYPE_CHECKING, TypeGuard

from llm_sandbox.const import SupportedLanguage, language_name
from llm_sandbox.exceptions import ConfigurationError, LanguageNotSupportedError, ValidationError
from llm_sandbox.language_handlers.base import AbstractLanguageHandler

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["BUILTIN", "ENTRY_POINT_GROUP", "available", "is_available", "load", "register"]

ENTRY_POINT_GROUP = "llm_sandbox.languages"
"""Group of the entry points that add languages."""

_HERE = "llm_sandbox.language_handlers"

BUILTIN = {
    SupportedLanguage.BASH.value: f"{_HERE}.bash:BashHandler",
    SupportedLanguage.CPP.value: f"{_HERE}.cpp:CppHandler",
    SupportedLanguage.GO.value: f"{_HERE}.go:GoHandler",
    SupportedLanguage.JAVA.value: f"{_HERE}.java:JavaHandler",
    SupportedLanguage.JAVASCRIPT.value: f"{_HERE}.javascript:JavaScriptHandler",
    SupportedLanguage.PYTHON.value: f"{_HERE}.python:PythonHandler",
    SupportedLanguage.R.value: f"{_HERE}.r:RHandler",
    SupportedLanguage.RUBY.value: f"{_HERE}.ruby:RubyHandler",
    SupportedLanguage.TYPESCRIPT.value: f"{_HERE}.javascript:TypeScriptHandler",
}
"""Language to `module:Class`; the module is imported on first use."""

_registered: dict[str, type[AbstractLanguageHandler]] = {}


def register(language: str, handler: type[AbstractLanguageHandler]) -> None:
    """Use `handler` for `language` in this process, with precedence over any other handler.

    Raises:
        ValidationError: `handler` is not a handler class.
    """
    if not _is_handler(handler):
        raise ValidationError("a handler must extend AbstractLanguageHandler", parameter="handler")
    _registered[_key(language)] = handler


def available() -> list[str]:
    """Return the names of the languages that can be used here, sorted."""
    installed = {_key(point.name) for point in _installed()}
    return sorted(BUILTIN.keys() | _registered.keys() | installed)


def is_available(language: str) -> bool:
    """Return whether a language can be used here."""
    key = _key(language)
    # Packages are looked through last, which takes tens of milliseconds.
    return key in BUILTIN or key in _registered or key in available()


def load(language: str) -> type[AbstractLanguageHandler]:
    """Return the handler class of a language.

    Raises:
        LanguageNotSupportedError: the language is unknown or not available in this version.
        ConfigurationError: an installed package names something that is not a handler class.
    """
    key = _key(language)
    if key in _registered:
        return _registered[key]
    if key in BUILTIN:
        module, _, name = BUILTIN[key].partition(":")
        found = getattr(import_module(module), name)
    else:
        point = next((item for item in _installed() if _key(item.name) == key), None)
        if point is None:
            planned = key in list(SupportedLanguage)
            reason = "is not available in this version" if planned else "is not supported"
            raise LanguageNotSupportedError(key, known=available(), reason=reason)
        found = point.load()
    if not _is_handler(found):
        raise ConfigurationError(f"the handler of language {key!r} is not a handler class")
    return found


def _installed() -> "list[EntryPoint]":
    # Reading package metadata loads an e-mail parser, which `import llm_sandbox` must not wait for.
    from importlib.metadata import entry_points

    return list(entry_points(group=ENTRY_POINT_GROUP))


def _is_handler(value: object) -> TypeGuard[type[AbstractLanguageHandler]]:
    return isinstance(value, type) and issubclass(value, AbstractLanguageHandler)


def _key(language: str) -> str:
    return str(language_name(language))
