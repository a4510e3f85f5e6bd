"""Writable root of a machine of bubblewrap: its description for the guest, and its errors."""

import os
import sys
from typing import Any

from llm_sandbox.backends.file_snapshots import FileSnapshots
from llm_sandbox.backends.mounts import linked_mount
from llm_sandbox.exceptions import (
    BackendError,
    ImageNotFoundError,
    SandboxError,
    UnsupportedError,
)
from llm_sandbox.guest.constants import LINK_IN_MOUNT_PATH
from llm_sandbox.guest.overlay import REFUSED
from llm_sandbox.limits import Limits

__all__ = ["describe_writable", "explain_root", "open_saved_root"]


def describe_writable(limits: Limits, *, saved: bool) -> dict[str, Any]:
    """Return the description of the overlays for `guest.overlay`.

    Args:
        limits: Limits of the sandbox. The size of the working directory is that of the changes of
            all overlays together, too.
        saved: Whether the root starts from the changes of a snapshot.
    """
    return {
        "places": _places(),
        "size": limits.workdir_bytes,
        "inodes": limits.inodes,
        "saved": saved,
    }


def _places() -> list[str]:
    """Return the writable folders of the root.

    Neither /opt nor a /usr/local with our interpreter: a program that changed the code of the
    supervisor would get its rights.
    """
    places = ["/etc", "/home", "/srv", "/var"]
    own = os.path.realpath(sys.base_prefix)
    if os.path.isdir("/usr/local") and not f"{own}/".startswith("/usr/local/"):
        places.append("/usr/local")
    return places


def open_saved_root(ref: str | None) -> list[int]:
    """Open the root of a snapshot; return its descriptor, or none for a snapshot without a root.

    Raises:
        ImageNotFoundError: The snapshot was deleted.
        SecurityError: The snapshot was changed.
    """
    if ref is None:
        return []
    with FileSnapshots() as store:
        record = store.find(ref)
        if record is None:
            raise ImageNotFoundError(ref)
        return [store.open_part(record, "root")] if "root" in record.parts else []


def explain_root(error: BackendError) -> SandboxError:
    """Return the exception for a machine that could not be created.

    A kernel without support for a writable root is `UnsupportedError`, and a link in the path of a
    mount point is `SecurityError`.
    """
    if LINK_IN_MOUNT_PATH in error.message:
        return linked_mount(error.message.partition(f"{LINK_IN_MOUNT_PATH}: ")[2])
    if REFUSED in error.message:
        why = error.message.partition(f"{REFUSED}: ")[2]
        return UnsupportedError("writable_root", "bubblewrap", why)
    return error
