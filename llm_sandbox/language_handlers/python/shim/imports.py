"""Post-import hooks, at no cost while the library is not imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .session import report

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

Hook = Callable[[ModuleType], None]


class ImportHooks:
    """Import finder that finds nothing itself: it runs hooks after a module was executed."""

    def __init__(self) -> None:
        self._hooks: dict[str, list[Hook]] = {}
        self._searching: set[str] = set()

    def add(self, name: str, hook: Hook) -> None:
        """Run a hook after every import of a module, at once if it is loaded already.

        Args:
            name: Full module name.
            hook: Takes the module. What it raises is reported and never reaches the importer.
        """
        self._hooks.setdefault(name, []).append(hook)
        module = sys.modules.get(name)
        if module is not None:
            _run(hook, module)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Implement the finder protocol.

        Args:
            name: Full module name.
            path: Search path of the parent package, passed on to the other finders.
            target: Module that is being reloaded, if any.

        Returns:
            The spec of the other finders, with a loader that runs the hooks.
        """
        if name not in self._hooks or name in self._searching:
            return None
        self._searching.add(name)
        try:
            spec = _find(self, name, path, target)
        finally:
            self._searching.discard(name)
        if spec is not None and spec.loader is not None:
            self._wrap(spec.loader, name)
        return spec

    def _wrap(self, loader: Any, name: str) -> None:
        original = getattr(loader, "exec_module", None)
        if original is None:
            return

        def exec_module(module: ModuleType) -> None:
            # The instance attribute goes first: afterwards the loader is the stock one again.
            vars(loader).pop("exec_module", None)
            original(module)
            for hook in self._hooks[name]:
                _run(hook, module)

        try:
            loader.exec_module = exec_module
        except (AttributeError, TypeError):
            return  # a loader without instance attributes: this module is not captured


def _find(
    skip: ImportHooks, name: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in sys.meta_path:
        if finder is skip:
            continue
        find_spec = getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = find_spec(name, path, target) if find_spec else None
        if spec is not None:
            return spec
    return None


def _run(hook: Hook, module: ModuleType) -> None:
    try:
        hook(module)
    except Exception as error:  # noqa: BLE001 - the import must succeed
        report(f"plots of {module.__name__} are not captured", error)


def on_import(name: str, hook: Hook) -> None:
    """Run a hook after a module is imported, at once if it is loaded already.

    Args:
        name: Full module name.
        hook: Takes the module.
    """
    if _hooks not in sys.meta_path:
        sys.meta_path.insert(0, _hooks)
    _hooks.add(name, hook)


_hooks = ImportHooks()
