"""Specification of a machine, and the report of what isolates it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import Limits
from llm_sandbox.mounts import Mount, check_mounts

__all__ = ["Control", "Isolation", "MachineSpec", "Network", "validate_workdir"]

Network = Literal["blocked", "open"]
"""``blocked``: no interface but loopback. ``open``: the host's network."""

_NO_WORKDIR = ("bin", "dev", "etc", "lib", "lib32", "lib64", "opt", "proc", "sbin", "sys", "usr")


def validate_workdir(workdir: str) -> str:
    """Return a working directory, normalised.

    Raises:
        ValidationError: The path is not absolute, has a ``..``, or is below a folder of the system.
    """
    parts = str(workdir).split("/")
    if parts[0] or ".." in parts or "\0" in workdir:
        raise ValidationError(
            f"invalid workdir: expected an absolute path without '..', got {workdir!r}",
            parameter="workdir",
        )
    names = [part for part in parts if part not in ("", ".")]
    if not names or names[0] in _NO_WORKDIR:
        folder = "/" + (names[0] if names else "")
        raise ValidationError(f"workdir cannot be below {folder}", parameter="workdir")
    return "/" + "/".join(names)


@dataclass(frozen=True)
class MachineSpec:
    """Specification of a machine.

    Raises:
        ValidationError: The working directory, a mount or `gpu` is invalid.
    """

    workdir: str = "/sandbox"
    """Absolute path of the working directory."""
    limits: Limits = field(default_factory=Limits)
    """Limits of all its processes together."""
    network: Network = "blocked"
    """Network of its programs."""
    timeout_s: float | None = None
    """Seconds until the machine ends by itself; None for no deadline."""
    mounts: Mapping[str, Mount] = field(default_factory=dict, hash=False)
    """Folders and files of this computer, volumes and memory, by path inside."""
    gpu: str | int | None = None
    """Graphics processors: ``all``, a number, or names separated by commas; None for none."""
    writable_root: bool = False
    """Whether programs may write outside of the working directory and the temporary folders."""
    saved_root: str | None = None
    """Name, in this user's snapshot store, of the root that the machine starts from; None for an
    unchanged one."""
    for_kernel: bool = False
    """Whether a kernel will be started in it, so that a backend may prepare that at once."""
    ahead: bool = False
    """Whether it is created ahead of need, with time to load what sessions often use."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "workdir", validate_workdir(self.workdir))
        object.__setattr__(self, "mounts", check_mounts(self.mounts, self.workdir))
        _check_gpu(self.gpu)


def _check_gpu(gpu: object) -> None:
    if gpu is None or (isinstance(gpu, str) and gpu.strip(", ")):
        return
    if isinstance(gpu, bool) or not isinstance(gpu, int) or gpu < 1:
        raise ValidationError(
            "invalid gpu: expected 'all', a number from 1, or names of devices with commas between "
            f"them, got {gpu!r}",
            parameter="gpu",
        )


@dataclass(frozen=True)
class Control:
    """Control of one resource."""

    state: Literal["enforced", "approximated", "absent"]
    by: str
    """Mechanism, or the reason for its absence."""


@dataclass(frozen=True)
class Isolation:
    """Report of what isolates a sandbox, resource by resource."""

    backend: str
    level: Literal["microvm", "container", "namespaces", "none"]
    controls: Mapping[str, Control]

    def state(self, resource: str) -> str:
        """Return ``enforced``, ``approximated`` or ``absent`` for a resource like ``network``."""
        return self.controls[resource].state

    def __str__(self) -> str:
        parts = [f"{self.backend} ({self.level})"]
        for state in ("enforced", "approximated", "absent"):
            names = [name for name, control in self.controls.items() if control.state == state]
            if names:
                parts.append(f"{state}: {', '.join(names)}")
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-able data."""
        controls = {name: {"state": c.state, "by": c.by} for name, c in self.controls.items()}
        return {"backend": self.backend, "level": self.level, "controls": controls}
