"""Kernelspecs of a server: one for each language that keeps state, and each such template."""

import threading
from typing import Any

from llm_sandbox.exceptions import SandboxNotFoundError, UnsupportedError
from llm_sandbox.jupyter.languages import LOGOS, NotebookLanguage, notebook_language
from llm_sandbox.language_handlers import registry
from llm_sandbox.server.fleet import Fleet

__all__ = ["DEFAULT_KERNEL", "Kernelspecs"]

DEFAULT_KERNEL = "python3"
"""Name of the kernel for requests without one."""

_NAMES = {"python": DEFAULT_KERNEL, "r": "ir"}
"""Names of kernels that notebooks expect, by language; others have the language's."""


class Kernelspecs:
    """Kernelspecs over a fleet.

    Args:
        fleet: The sandboxes.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, NotebookLanguage]] | None = None

    def _found(self) -> dict[str, tuple[str, NotebookLanguage]]:
        """Return template and language by name of the kernel, as found at the first call."""
        with self._lock:
            if self._known is None:
                self._known = {}
                own = {name: one.lang for name, one in self._fleet.options.templates.items()}
                languages = {_NAMES.get(name, name): name for name in registry.available()}
                for name, lang in {**languages, **own}.items():
                    template = name if name in own else lang
                    try:
                        language = notebook_language(lang)
                    except UnsupportedError:
                        continue
                    if self._fleet.has_language(lang):
                        self._known[name] = (template, language)
            return self._known

    def find(self, name: str) -> tuple[str, NotebookLanguage]:
        """Return template and language of a kernel by its name.

        Raises:
            SandboxNotFoundError: There is no such kernel.
        """
        known = self._found()
        chosen = known.get(name) or known.get(_NAMES.get(name, ""))
        if chosen is None:
            hint = f"kernels of this server: {', '.join(known)}"
            raise SandboxNotFoundError(f"kernel {name[:80]}", hint=hint)
        return chosen

    def list(self) -> dict[str, Any]:
        """Return all kernelspecs, as Jupyter describes them."""
        known = self._found()
        first = DEFAULT_KERNEL if DEFAULT_KERNEL in known else next(iter(known), "")
        return {"default": first, "kernelspecs": {name: self.describe(name) for name in known}}

    def describe(self, name: str) -> dict[str, Any]:
        """Return one kernelspec.

        Raises:
            SandboxNotFoundError: There is no such kernel.
        """
        template, language = self.find(name)
        title = language.title if template == language.lang else f"{language.title} ({template})"
        spec = {
            "argv": [],
            "env": {},
            "display_name": title,
            "language": language.name,
            "interrupt_mode": "message",
            "metadata": {},
        }
        resources = {path.stem: f"/kernelspecs/{name}/{path.name}" for path in LOGOS.glob("logo-*")}
        return {"name": name, "spec": spec, "resources": resources}

    def picture(self, name: str, file: str) -> bytes | None:
        """Return a file of a kernelspec; None if there is none.

        Raises:
            SandboxNotFoundError: There is no such kernel.
        """
        self.find(name)
        known = {path.name: path for path in LOGOS.glob("logo-*")}
        return known[file].read_bytes() if file in known else None
