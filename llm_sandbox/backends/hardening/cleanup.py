"""Remove control groups. Apart from making them, because the process that outlives a killed host
loads only this.
"""

import contextlib
import os
import time

__all__ = ["remove_group"]


def remove_group(path: str, wait_s: float) -> bool:
    """Remove a group and the groups below it, waiting up to `wait_s` seconds for their processes to
    be gone.
    """
    deadline = time.monotonic() + wait_s
    while True:
        for folder, _, _ in os.walk(path, topdown=False):
            # One below may be gone by now: others remove theirs at the same time.
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        if not os.path.isdir(path):
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)
