"""Imports of optional dependencies, with the command that installs them."""

from importlib import import_module
from types import ModuleType

from llm_sandbox.exceptions import MissingDependencyError
from llm_sandbox.host.distribution import install_command

__all__ = ["require"]


def require(module: str, extra: str) -> ModuleType:
    """Import a module of a framework.

    Args:
        module: Name of the module.
        extra: Extra of this library that installs it.

    Raises:
        MissingDependencyError: The framework is not installed or too old; the hint has the command
            that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        name = _package_of(module)
        if _is_there(name):
            raise MissingDependencyError(
                f"the installed {name} has no {error.name}: another version is needed",
                extra=extra,
                hint=install_command(extra, upgrade=True),
            ) from error
        raise MissingDependencyError(f"{name} is not installed", extra=extra) from error


def _package_of(module: str) -> str:
    """Return the name of the package of a module, with the name of a shared namespace such as
    `google`.
    """
    first, _, rest = module.partition(".")
    if rest and _is_there(first) and import_module(first).__file__ is None:
        return f"{first}.{rest.partition('.')[0]}"
    return first


def _is_there(name: str) -> bool:
    try:
        import_module(name)
    except ModuleNotFoundError:
        return False
    return True
