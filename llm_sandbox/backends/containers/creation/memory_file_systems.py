"""The file systems in memory of a container: what code can write to, and how much."""

from collections.abc import Sequence
from typing import Final

from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.containers.creation.mount_plan import MountPlan
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.options.mount_points import tmpfs_options

__all__ = ["MemoryFileSystems"]

_TMP: Final = "/tmp"  # noqa: S108 - inside
_SHM: Final = "/dev/shm"  # noqa: S108 - inside


class MemoryFileSystems:
    """Where they are, how large, and whose.

    Programs can be started from all of them, as in the sandboxes without an engine: compilers and
    installed wheels need it of the working directory, build tools of ``/tmp``.

    Args:
        spec: The machine.
        options: What the caller puts into the file system; it takes the place of ours.
        user: Who code runs as, ``user[:group]``.
        podman: Whether the engine is Podman, which knows neither owners nor a number of files, and
            would fill each file system with what the image has in its place.
        image_volumes: Places that the image declares as volumes, which engines would give a folder
            of their own disk, of any size.
        plan: What of this computer the container is given; None for nothing.
    """

    def __init__(
        self,
        spec: MachineSpec,
        options: ContainerOptions,
        *,
        user: str,
        podman: bool,
        image_volumes: Sequence[str] = (),
        plan: MountPlan | None = None,
    ) -> None:
        limits = spec.limits
        mounted = [] if plan is None else plan.mount_points
        memory = {} if plan is None else plan.sizes
        self._mount_points = {
            mount_point.target: mount_point for mount_point in (*options.mount_points(), *mounted)
        }
        shared = options.runtime_configs.get("ipc_mode", "private") != "private"
        self.own_shm = not shared
        """Whether `/dev/shm` is one of them, and not what the engine makes of `shm_size`."""
        self.inodes = None if podman else limits.inodes
        """Files and directories in each; None where the engine cannot limit them."""
        number, _, group = user.partition(":")
        owned = number.isdecimal() and not podman
        owner = f"uid={number}," if owned else ""
        owner += f"gid={group}," if owned and group.isdecimal() else ""
        # Nobody but process 1 and code is in there: where the owner cannot be set, all may write.
        mode = 0o755 if owned else 0o777
        wanted = {
            **dict.fromkeys(image_volumes, (limits.tmp_bytes, "mode=1777")),
            spec.workdir: (limits.workdir_bytes, f"{owner}mode={mode:04o}"),
            _TMP: (limits.tmp_bytes, "mode=1777"),
            **({} if shared else {_SHM: (limits.shm_bytes, "mode=1777")}),
            **{path: (size, "mode=1777") for path, size in memory.items()},
        }
        self._sizes = {
            path: size for path, (size, _) in wanted.items() if path not in self._mount_points
        }
        count = f"nr_inodes={limits.inodes}," if not podman else ""
        end = ",notmpcopyup" if podman else ""
        self.tmpfs = {
            path: f"rw,nosuid,nodev,exec,size={size},{count}{wanted[path][1]}{end}"
            for path, size in self._sizes.items()
        } | tmpfs_options(options.runtime_configs.get("tmpfs", ()))
        """Path to mount options, as docker-py has it."""
        self.modes = dict.fromkeys(self._sizes, 0o1777)
        """Permissions that process 1 has to set once more: engines give a file system those that
        the image's folder in its place has. It can where it is the owner."""
        if owned:
            self.modes.pop(spec.workdir, None)
        elif spec.workdir in self.modes:
            self.modes[spec.workdir] = mode
        written = [
            mount_point.target
            for mount_point in self._mount_points.values()
            if not mount_point.read_only
        ]
        in_memory = (path for path in (*image_volumes, *memory) if path in self._sizes)
        self.writable = (*written, *in_memory)
        """Places of the caller's and of the image's that code may write to."""

    def size_of(self, path: str) -> int | None:
        """The size of what is mounted at a path, in bytes; None where nothing limits it."""
        mount_point = self._mount_points.get(path)
        return self._sizes.get(path) if mount_point is None else mount_point.size_bytes
