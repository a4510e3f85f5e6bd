"""Capture of plots and tables inside the sandbox, and the codec of values.

``install(shell)`` is called once, before the process forks. The call starts no thread, opens no
file, imports no plotting library, and has no effect when repeated for the same shell.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .session import Service

__all__ = ["install"]


def install(shell: Any) -> dict[str, Service]:
    """Publish every plot of ``shell`` as Jupyter display data.

    Args:
        shell: An IPython ``InteractiveShell``, usually the one of a running ipykernel.

    Returns:
        Services that the host may call besides running cells, by name.
    """
    # Who needs the codec alone, as tests of generated code do, does not load the rest.
    from . import installation

    return installation.install(shell)
