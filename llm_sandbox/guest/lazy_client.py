"""Load ipykernel without the half of jupyter_client that only clients need.

`import ipykernel` imports `jupyter_client`, whose package file imports every client and manager it
has: a third of a kernel's start. A kernel uses its `session` and `jsonutil` modules only. So the
package is put in place unexecuted, and runs its own file when somebody first asks it for a name.
"""

import importlib.util
import sys
from typing import Any


def defer_jupyter_client() -> None:
    """Put `jupyter_client` in place as described. Does nothing once it is imported, or if it is
    absent.
    """
    if "jupyter_client" in sys.modules:
        return
    spec = importlib.util.find_spec("jupyter_client")
    if spec is None or spec.loader is None:
        return
    package = importlib.util.module_from_spec(spec)
    loader = spec.loader

    def load(name: str) -> Any:
        if "__getattr__" in vars(package):
            del package.__getattr__
            loader.exec_module(package)
            return getattr(package, name)
        raise AttributeError(name)

    def write_connection_file(*args: Any, **options: Any) -> Any:
        return load("write_connection_file")(*args, **options)

    # ipykernel.connect imports this one by name when it is itself imported.
    package.write_connection_file = write_connection_file  # type: ignore[attr-defined]
    package.__getattr__ = load  # type: ignore[method-assign]
    sys.modules["jupyter_client"] = package
