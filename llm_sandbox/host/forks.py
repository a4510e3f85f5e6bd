"""Keeping locks and connections out of forked children, where a system has them."""

import os
import sys
from collections.abc import Callable

__all__ = ["after_fork"]


def after_fork(call: Callable[[], object]) -> None:
    """Have `call` called in each child that this process forks; Windows has none."""
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=call)
