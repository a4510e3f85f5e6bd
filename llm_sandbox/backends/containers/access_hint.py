"""What to type when an engine is there and its socket is not for everybody."""

import errno
import os

__all__ = ["permission_hint"]

_OWN_PODMAN = "use the service of your own: systemctl --user start podman.socket"


def permission_hint(engine: str, problem: object, otherwise: str) -> str:
    """Return the hint for an engine that did not answer.

    Args:
        engine: ``docker`` or ``podman``.
        problem: What was said, in the words of the operating system.
        otherwise: The hint for any other problem than that access is denied.
    """
    if os.strerror(errno.EACCES) not in str(problem):
        return otherwise
    if engine == "podman":
        return _OWN_PODMAN
    return (
        "sudo usermod -aG docker $USER, and log in again, makes you one of its group (which can "
        "become root here; rootless Docker asks for none)"
    )
