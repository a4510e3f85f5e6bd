"""OCI configuration for runsc, with our supervisor as process 1."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.guest.constants import USER_ID

__all__ = ["TRUSTED_HOME", "SharedFolder", "configuration"]

TRUSTED_HOME = "/run"
"""Folder in memory that only the supervisor and the zygote may write to."""

_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_KILL")
"""Capabilities of process 1: to start processes as another user, irrevocably, and to kill them."""

_PRIVATE = ("nosuid", "nodev")


@dataclass(frozen=True)
class SharedFolder:
    """Folder of the host that a machine sees.

    Attributes:
        inside: Path in the machine.
        staged: Path in the launcher's mount namespace, for runsc.
        host: Path on the host.
        writable: Whether the machine may write to it.
    """

    inside: str
    staged: str
    host: str
    writable: bool = False


def configuration(
    spec: MachineSpec,
    command: Sequence[str],
    *,
    root: str,
    shared: Sequence[SharedFolder],
) -> dict[str, Any]:
    """Return the content of ``config.json``.

    Args:
        spec: The machine.
        command: Command line of process 1.
        root: Host path of the root file system.
        shared: Folders of the host that may change while the machine runs.
    """
    python = environment.current()
    variables = [f"PATH={python.bin}:/usr/bin:/bin", "LC_ALL=C.UTF-8"]
    if python.library_path:
        variables.append(f"LD_LIBRARY_PATH={python.library_path}")
    limits = spec.limits
    mounts: list[dict[str, Any]] = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        _memory("/dev", 1 << 20, "mode=755"),
        _memory(TRUSTED_HOME, 16 << 20, "mode=755"),
        _memory("/dev/shm", limits.shm_bytes, "mode=1777"),  # noqa: S108 - inside
        _memory("/tmp", limits.tmp_bytes, "mode=1777"),  # noqa: S108 - inside
        _memory(spec.workdir, limits.workdir_bytes, "mode=755", f"uid={USER_ID}", f"gid={USER_ID}"),
        *(_bound(folder) for folder in shared),
    ]
    capabilities = dict.fromkeys(("bounding", "effective", "permitted"), _CAPABILITIES)
    namespaces = ["pid", "ipc", "uts", "mount", *(["network"] if spec.network == "blocked" else [])]
    return {
        "ociVersion": "1.0.2",
        "hostname": "sandbox",
        "process": {
            "args": list(command),
            "env": variables,
            "cwd": "/",
            "user": {"uid": 0, "gid": 0},
            "capabilities": {**capabilities, "inheritable": []},
            "noNewPrivileges": True,
        },
        "root": {"path": root, "readonly": True},
        "mounts": mounts,
        "linux": {"namespaces": [{"type": kind} for kind in namespaces]},
    }


def _bound(folder: SharedFolder) -> dict[str, Any]:
    # runsc may not clear a restriction of the host's mount.
    noexec = os.statvfs(folder.host).f_flag & os.ST_NOEXEC
    words = ["rbind", "rw" if folder.writable else "ro", *_PRIVATE, *(["noexec"] if noexec else [])]
    return {
        "destination": folder.inside,
        "type": "bind",
        "source": folder.staged,
        "options": words,
    }


def _memory(path: str, size: int, *options: str) -> dict[str, Any]:
    words = [*_PRIVATE, f"size={size}", *options]
    return {"destination": path, "type": "tmpfs", "source": "tmpfs", "options": words}
