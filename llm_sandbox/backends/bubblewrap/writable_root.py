"""A root that programs may change: what is told to the supervisor of it, and what it says."""

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
    """What `guest.overlay` makes: the places, and how much may change in all of them together.

    Args:
        limits: The sandbox's. As much as in the working directory may change outside of it.
        saved: Whether it begins from what was changed in another one.
    """
    return {
        "places": _places(),
        "size": limits.workdir_bytes,
        "inodes": limits.inodes,
        "saved": saved,
    }


def _places() -> list[str]:
    """The places of a writable root.

    /opt is none of them, nor is /usr/local where our interpreter lies in it: a program that changed
    what the supervisor runs would have its rights.
    """
    places = ["/etc", "/home", "/srv", "/var"]
    own = os.path.realpath(sys.base_prefix)
    if os.path.isdir("/usr/local") and not f"{own}/".startswith("/usr/local/"):
        places.append("/usr/local")
    return places


def open_saved_root(ref: str | None) -> list[int]:
    """Open what was changed in the root of a sandbox that was saved: one descriptor, or none.

    Raises:
        ImageNotFoundError: The snapshot was deleted.
        SecurityError: It was changed.
    """
    if ref is None:
        return []
    with FileSnapshots() as store:
        record = store.find(ref)
        if record is None:
            raise ImageNotFoundError(ref)
        return [store.open_part(record, "root")] if "root" in record.parts else []


def explain_root(error: BackendError) -> SandboxError:
    """Return the error to raise for one that a machine could not be made by: a kernel that cannot
    make a root writable is no fault, but a refusal; nor is a link that leads a mount elsewhere.
    """
    if LINK_IN_MOUNT_PATH in error.message:
        return linked_mount(error.message.partition(f"{LINK_IN_MOUNT_PATH}: ")[2])
    if REFUSED in error.message:
        why = error.message.partition(f"{REFUSED}: ")[2]
        return UnsupportedError("writable_root", "bubblewrap", why)
    return error
