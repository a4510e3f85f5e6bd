"""Which names of errors may be told: those that a language or this library gives, not the code."""

import builtins

from llm_sandbox import exceptions

__all__ = ["OTHER", "told_name"]

OTHER = "other"
"""Stands for every name that is not told."""

_OF_PYTHON = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
_OF_LANGUAGES = {
    *("CompileError", "UnresolvedReference", "BashError", "ExitStatus", "panic", "fatal error"),
    *("RangeError", "URIError", "EvalError", "AggregateError", "InternalError"),
    *("NoMethodError", "ArgumentError", "NotImplementedError", "FrozenError", "IOError"),
    *("LoadError", "RegexpError", "StopIteration", "Interrupt", "SystemStackError"),
    *("java.lang.ArithmeticException", "java.lang.NullPointerException", "java.lang.Error"),
    *("java.lang.ArrayIndexOutOfBoundsException", "java.lang.ClassCastException"),
    *("java.lang.IllegalArgumentException", "java.lang.IllegalStateException"),
    *("java.lang.NumberFormatException", "java.lang.RuntimeException"),
    *("java.lang.OutOfMemoryError", "java.lang.StackOverflowError"),
    *("std::bad_alloc", "std::invalid_argument", "std::logic_error", "std::out_of_range"),
    *("std::runtime_error", "std::exception"),
}
_KNOWN = frozenset(_OF_PYTHON | _OF_LANGUAGES | set(exceptions.__all__))


def told_name(name: str | None) -> str | None:
    """Return an error's name if it may be told, ``other`` if not, None for None.

    Args:
        name: The name, which code may have chosen.
    """
    # trust: a class in the sandbox can be called anything, a secret included.
    if name is None:
        return None
    return name if name in _KNOWN else OTHER
