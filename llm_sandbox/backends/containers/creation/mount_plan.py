"""Plan of a container's mounts: host folders, the user that owns them inside, and memory.

Code runs as a user that owns nothing on the host. For the rights of a folder's owner there, root
maps the owner of each mount (`hardening.idmap`); without root, code runs as that owner, unless it
is root.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.hardening.idmap import MappedFolder, attach_to, obstacle
from llm_sandbox.backends.mounts import HostMount, find_mounts, sizes
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.options.mount_points import MountPoint, tmpfs_options
from llm_sandbox.exceptions import BackendError, UnsupportedError
from llm_sandbox.guest.constants import USER_ID

__all__ = ["MemoryFileSystems", "MountPlan"]

_OTHER_USERS: Final = ("name=rootless", "name=userns")
_HINT: Final = "use the bubblewrap backend, which works as whoever owns the folder"


class MountPlan:
    """Mounts of one container.

    Args:
        spec: The machine.
        engine: Its engine; contacted only if there are host folders to mount.
        given: The runtime configs of the caller.

    Raises:
        SecurityError: A mount would expose a sensitive path.
        UnsupportedError: The engine cannot reach folders of this host, or code could not use one.
        ValidationError: A path does not exist.
    """

    def __init__(self, spec: MachineSpec, engine: Engine, given: Mapping[str, Any]) -> None:
        self._engine = engine
        self._given = given
        self.host_mounts = find_mounts(spec.mounts)
        """Mounts of folders and files of this host."""
        self.sizes = sizes(spec.mounts)
        """Sizes of the mounts in memory, in bytes by path."""
        self.user: str | None = None
        """User that code has to run as; None for the default."""
        self._mapped: list[HostMount] = []
        if self.host_mounts:
            self._assign_owners()

    def _assign_owners(self) -> None:
        engine = self._engine
        if not engine.is_local:
            raise UnsupportedError(
                f"a mount of {self.host_mounts[0].source}",
                engine.name,
                "the engine may run on another machine, where that is something else",
                hint="bring files with sandbox.files.upload",
            )
        owners: dict[tuple[int, int], HostMount] = {}
        for one in self.host_mounts:
            if "user" in self._given:
                if self._can_map(one):
                    self._mapped.append(one)
            elif self._other_users:
                if not one.is_open_to_all:
                    raise self._refusal(one, "its user ids are not those of this machine")
            elif self._can_map(one):
                self._mapped.append(one)
            elif one.owner[0] != 0:
                owners[one.owner] = one
            elif not one.is_open_to_all:
                raise self._refusal(one, "it belongs to root, as whom no code runs")
        if len(owners) > 1:
            first, second, *_ = owners.values()
            raise self._refusal(
                second, f"it belongs to another user than {first.source}, and code runs as one"
            )
        for user, group in owners:
            self.user = f"{user}:{group}"

    @property
    def _other_users(self) -> bool:
        facts = self._engine.facts
        options = [str(option) for option in facts.get("SecurityOptions") or ()]
        return bool(facts.get("Rootless")) or any(
            name in option for option in options for name in _OTHER_USERS
        )

    def _can_map(self, one: HostMount) -> bool:
        if os.geteuid() != 0 or self._other_users or self._inside_user() is None:
            return False
        # Another runtime may have a kernel of its own, to which a mount from outside is nothing.
        runtime = self._given.get("runtime") or self._engine.facts.get("DefaultRuntime")
        return runtime in (None, "", "runc", "crun") and obstacle(one.source) is None

    def _inside_user(self) -> tuple[int, int] | None:
        user, _, group = str(self._given.get("user", f"{USER_ID}:{USER_ID}")).partition(":")
        group = group or user
        return (int(user), int(group)) if user.isdecimal() and group.isdecimal() else None

    def _refusal(self, one: HostMount, why: str) -> UnsupportedError:
        what = "read" if one.read_only else "written"
        return UnsupportedError(
            f"a mount of {one.source}",
            self._engine.name,
            f"{why}, and it cannot be {what} by everybody",
            hint=_HINT,
        )

    @property
    def mount_points(self) -> list[MountPoint]:
        """Mount points, in the form of those of the caller."""
        return [
            MountPoint("mounts", one.target, one.source, one.read_only) for one in self.host_mounts
        ]

    @property
    def mounts(self) -> list[dict[str, Any]]:
        """Mounts for the engine, which, unlike ``volumes``, create no missing folder."""
        return [
            {
                "Type": "bind",
                "Source": one.source,
                "Target": one.target,
                "ReadOnly": one.read_only,
                "BindOptions": {"Propagation": "rprivate"},
            }
            for one in self.host_mounts
        ]

    def map_owners(self, container: str) -> None:
        """Map the owners of a container's mounts to its user, before any code runs in it.

        Args:
            container: Its id.

        Raises:
            BackendError: They could not be mapped.
        """
        inside = self._inside_user()
        if not self._mapped or inside is None:
            return
        folders = [one.mapped(one.target, inside) for one in self._mapped]
        reason = _attach(self._engine, container, folders)
        if reason is not None:
            raise BackendError(
                f"the owners of mounts could not be mapped: {reason}",
                op="create",
                backend=self._engine.name,
                hint=_HINT,
            )


def _attach(engine: Engine, container: str, folders: list[MappedFolder]) -> str | None:
    with engine.errors("inspect", container):
        process = int(engine.api.inspect_container(container)["State"].get("Pid") or 0)
    # Process ids of another machine, or of another process namespace, mean other processes here.
    try:
        with open(f"/proc/{process}/cgroup", encoding="utf-8") as file:
            is_same = container in file.read()
    except OSError:
        is_same = False
    if not is_same:
        return "the engine's processes are not this machine's"
    return attach_to(process, folders)


_TMP: Final = "/tmp"  # noqa: S108 - inside
_SHM: Final = "/dev/shm"  # noqa: S108 - inside


class MemoryFileSystems:
    """File systems in memory of a container: their mount options, sizes and owners.

    Programs can be executed from all of them, as on the other backends: compilers and installed
    wheels need it in the working directory, build tools in ``/tmp``.

    Args:
        spec: The machine.
        options: Options of the caller, whose mounts replace these file systems.
        user: User of the code, ``user[:group]``.
        podman: Whether the engine is Podman, which has neither owners nor inode limits for them,
            and would copy the image's files into each.
        image_volumes: Paths that the image declares as volumes, for which engines would create
            folders of any size on their disk.
        plan: Mounts of the machine; None for none.
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
        """Whether `/dev/shm` is one of them, and not created by the engine with `shm_size`."""
        self.inodes = None if podman else limits.inodes
        """Files and directories in each; None where the engine cannot limit them."""
        number, _, group = user.partition(":")
        owned = number.isdecimal() and not podman
        owner = f"uid={number}," if owned else ""
        owner += f"gid={group}," if owned and group.isdecimal() else ""
        # Only process 1 and code see it: where the owner cannot be set, all may write.
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
        """Mount options by path, as docker-py has them."""
        self.modes = dict.fromkeys(self._sizes, 0o1777)
        """Permissions that process 1 has to set where it is the owner: engines use those of the
        image's folder at the same path."""
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
        """Mount points of the caller and of the image that code may write to."""

    def size_of(self, path: str) -> int | None:
        """Return the size of the file system at a path, in bytes; None for no limit."""
        mount_point = self._mount_points.get(path)
        return self._sizes.get(path) if mount_point is None else mount_point.size_bytes
