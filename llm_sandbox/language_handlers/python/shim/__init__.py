"""Plot capture inside the sandbox.

``install(shell)`` is called once, before the process forks. It holds no thread and no open file,
imports no plotting library, and may be called again for the same shell without effect.
"""

from __future__ import annotations

from typing import Any

from . import describe, matplotlib_hooks, pillow_capture, plotly_capture
from .session import Session

__all__ = ["install"]

_MARK = "_llm_sandbox_session"


def install(shell: Any) -> None:
    """Make every plot of ``shell`` leave as Jupyter display data.

    Args:
        shell: An IPython ``InteractiveShell``, usually the one of a running ipykernel.
    """
    if _MARK in vars(shell):
        return
    session = Session(shell)
    setattr(shell, _MARK, session)
    describe.install(session)
    matplotlib_hooks.install(session)
    plotly_capture.install(session)
    pillow_capture.install(session)
