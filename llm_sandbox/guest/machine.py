"""Machine: the namespaces, file systems and init process that a sandbox's processes share.

`NamespaceMachine` has PID, mount, network, IPC and UTS namespaces of its own, a user namespace that
serves only to hold limits and drop capabilities, and an init that reaps. `ContainedMachine` is the
container whose process 1 the supervisor is: its processes are those of another user. `PlainMachine`
has no isolation: the local backend.
"""

from __future__ import annotations

import errno
import os
import selectors
import signal
import socket
import stat
from collections.abc import Callable

from . import linux, memory
from .confinement import Confinement, close_all_but, join_cgroups
from .constants import USER_ID
from .mount_points import mount_path, open_mount_point

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_NAMESPACES = linux.CLONE_NEWNS | linux.CLONE_NEWIPC | linux.CLONE_NEWUTS
_KILL_ALL = b"K"
_DONE = b"\0"
_DETACH = 2


class MachineSpec:
    """Specification of a machine, from the host's JSON.

    Attributes:
        tmpfs: File systems in memory: ``{"path", "size", "inodes", "mode"}``.
        binds: Existing files and folders to bind elsewhere: ``{"source", "path"}``.
        modes: Permissions of folders that a container's engine did not set: ``{path: mode}``.
        writable_root: Arguments of `overlay.mount_root`, and whether an archive was ``saved`` of
            another root; None for a read-only root.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.id: str = data["id"]
        self.workdir: str = data["workdir"]
        self.hostname: str = data.get("hostname", "sandbox")
        confinement = dict(data["confinement"])
        if isinstance(confinement.get("user"), str):
            confinement["user"] = find_user(confinement["user"])
        self.modes: dict[str, int] = confinement.get("modes", {})
        self.confinement = Confinement(confinement)
        self.user = self.confinement.user
        self.own_network: bool = data.get("own_network", True)
        self.tmpfs: list[dict[str, Any]] = data.get("tmpfs", [])
        self.binds: list[dict[str, str]] = confinement.get("binds", [])
        self.writable_root: dict[str, Any] | None = data.get("writable_root")


class PlainMachine:
    """Machine without isolation: a directory, and ordinary processes of the host."""

    def __init__(self, spec: MachineSpec, cgroups: list[int]) -> None:
        self.spec = spec
        self.cgroups = cgroups
        self.pid_namespace: str | None = None
        self.root: int | None = None
        """Descriptor of the upper layers of its writable root; None without one."""
        if not os.path.isdir(spec.workdir):
            _make_folder(spec.workdir, spec.user)

    def fork(self, child: Callable[[], NoReturn]) -> int:
        """Fork an unconfined process that runs `child` in the machine, and return its pid here."""
        pid = os.fork()
        if pid == 0:
            _run_child(child)
        return pid

    def fork_agent(self, child: Callable[[], NoReturn]) -> int:
        """Fork an agent as `fork` does, but outside of the machine's PID namespace, if it has one.

        So no program of the machine sees it or can signal it.
        """
        return PlainMachine.fork(self, child)

    def join(self) -> None:
        """Make the calling child a process of this machine, not confined yet."""
        join_cgroups(self.cgroups)

    @property
    def joining(self) -> list[int]:
        """The descriptors that `join` needs."""
        pidfd = self.pidfd()
        return [*self.cgroups, *([] if pidfd is None else [pidfd])]

    def pidfd(self) -> int | None:
        """Return a descriptor for joining the machine's namespaces, None without any."""
        return None

    def kill_all(self) -> bool:
        """Kill every process but init at once; return False where the machine cannot."""
        return False

    def resize_memory(self, entries: list[dict[str, Any]]) -> None:
        """Change the sizes of the machine's file systems in memory.

        Args:
            entries: As `MachineSpec.tmpfs`.

        Raises:
            OSError: The machine has none of its own, or one holds more already.
        """
        raise OSError(errno.EOPNOTSUPP, "its file systems are not its own")

    def killed_for_memory(self) -> bool:
        """Return whether the kernel has killed for want of memory since the last call."""
        return False

    def destroy(self) -> None:
        """End the machine and all of its processes."""
        for fd in self.cgroups:
            os.close(fd)
        self.cgroups = []


class ContainedMachine(PlainMachine):
    """Machine of a container: the processes of its user, who is not the supervisor's."""

    def __init__(self, spec: MachineSpec, cgroups: list[int]) -> None:
        super().__init__(spec, cgroups)
        for path, mode in spec.modes.items():
            os.chmod(path, mode)
        self._oom_kills = memory.oom_kills() or 0

    def join(self) -> None:
        super().join()
        # Forked from a process 1 that may be unreadable, it could not write to its own /proc.
        linux.set_dumpable()

    def kill_all(self) -> bool:
        if self.spec.user is None or self.spec.user[0] == os.geteuid():
            return False  # the supervisor would be among them
        pid = os.fork()
        if pid == 0:
            try:
                linux.set_user(*self.spec.user)
                os.kill(-1, signal.SIGKILL)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        return True

    def killed_for_memory(self) -> bool:
        before, self._oom_kills = self._oom_kills, memory.oom_kills() or 0
        return self._oom_kills > before

    def destroy(self) -> None:
        self.kill_all()
        super().destroy()


class NamespaceMachine(PlainMachine):
    """Machine of namespaces, made with the capabilities of the supervisor's user namespace.

    The network, mount and PID namespaces belong to the supervisor's user namespace, so that no
    process of the machine could change them even with every capability of its own; those are
    dropped too.

    Args:
        spec: Specification.
        cgroups: Descriptors of the ``cgroup.procs`` files of its processes.
        own_pid_namespace: Descriptor of the caller's PID namespace.
        runner: Descriptor of the connection that its init serves as a runner of tests; None for an
            init that only reaps.
    """

    def __init__(
        self,
        spec: MachineSpec,
        cgroups: list[int],
        own_pid_namespace: int,
        runner: int | None = None,
    ) -> None:
        self.spec = spec
        self._runner = runner
        self._archive: int | None = None
        if spec.writable_root is not None:
            from . import overlay  # noqa: F401 - before the fork, so that it is loaded once

            self._archive = cgroups.pop() if spec.writable_root["saved"] else None
        self.cgroups = cgroups
        self.root = None
        self._own = own_pid_namespace
        self._control, far = socket.socketpair()
        linux.unshare(linux.CLONE_NEWPID)
        try:
            self.init = os.fork()
            if self.init == 0:
                _run_child(lambda: self._init(far))
        finally:
            linux.setns(own_pid_namespace, linux.CLONE_NEWPID)
            for fd in (self._archive, runner):
                if fd is not None:
                    os.close(fd)
        far.close()
        report, given, _, _ = socket.recv_fds(self._control, 1 << 16, 1)
        self.root = given[0] if given else None
        if report != b"ready":
            self._control.close()
            raise OSError(f"the machine could not be set up: {report.decode() or 'its init died'}")
        self._pidfd = os.pidfd_open(self.init)
        self.pid_namespace = os.readlink(f"/proc/{self.init}/ns/pid")

    def fork(self, child: Callable[[], NoReturn]) -> int:
        linux.setns(self._pidfd, linux.CLONE_NEWPID)
        try:
            pid = os.fork()
            if pid == 0:
                _run_child(child)
        finally:
            linux.setns(self._own, linux.CLONE_NEWPID)
        return pid

    def join(self) -> None:
        join_cgroups(self.cgroups)
        join_namespaces(self._pidfd, own_network=self.spec.own_network)

    def resize_memory(self, entries: list[dict[str, Any]]) -> None:
        def resize() -> None:
            linux.setns(self._pidfd, linux.CLONE_NEWNS)
            for entry in entries:
                try:
                    _remount_memory(entry)
                except OSError as error:
                    raise OSError(f"{entry['path']}: {error}") from None

        # A process that has joined a mount namespace sees the machine's files.
        run_in_child(resize, "the file systems could not be changed")

    def join_network(self) -> None:
        """Join the machine's network namespace and no other, in the calling child."""
        if self.spec.own_network:
            linux.setns(self._pidfd, linux.CLONE_NEWNET)

    def pidfd(self) -> int | None:
        return self._pidfd

    def kill_all(self) -> bool:
        self._control.send(_KILL_ALL)
        return self._control.recv(1) == _KILL_ALL

    def destroy(self) -> None:
        # The kernel kills every process of a pid namespace whose first process dies.
        signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        self._control.close()
        os.close(self._pidfd)
        if self.root is not None:
            os.close(self.root)
        super().destroy()

    # --- in the new init

    def _init(self, control: socket.socket) -> NoReturn:
        try:
            self._control.close()
            self._prepare()
        except OSError as error:
            control.send(str(error).encode())
            os._exit(1)
        used = (control.fileno(), self.root, self._runner)
        close_all_but([fd for fd in used if fd is not None])
        linux.set_process_name("init")
        linux.drop_bounding_set()
        linux.drop_all_capabilities()
        linux.set_no_new_privileges()
        # User code runs under the same user id: it must not be able to read or steer this process.
        linux.set_undumpable()
        if self.root is None:
            control.send(b"ready")
        else:
            socket.send_fds(control, [b"ready"], [self.root])
            os.close(self.root)
        if self._runner is not None:
            from . import runner

            stream = socket.socket(fileno=self._runner)
            runner.serve(stream, self.spec.confinement, self.spec.workdir)
        _reap_until_closed(control)
        os._exit(0)

    def _prepare(self) -> None:
        spec = self.spec
        join_cgroups(self.cgroups)
        linux.unshare(_NAMESPACES | (linux.CLONE_NEWNET if spec.own_network else 0))
        # Opened first: a root or a file system in memory may cover them.
        sources = [os.open(bind["source"], os.O_PATH | os.O_CLOEXEC) for bind in spec.binds]
        if spec.writable_root is not None:
            self.root = self._mount_root(spec.writable_root)
        for entry in spec.tmpfs:
            _mount_memory(entry)
        for bind, source in zip(spec.binds, sources, strict=True):
            _bind(source, bind["path"])
        for bind in spec.binds:
            # The source would be visible twice otherwise.
            linux.unmount(bind["source"], _DETACH)
        linux.mount(
            "devpts",
            "/dev/pts",
            "devpts",
            linux.MS_NOSUID | linux.MS_NOEXEC,
            "newinstance,ptmxmode=0666,mode=0620,max=64",
        )
        flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
        linux.mount("proc", "/proc", "proc", flags)
        # Opened before the read-only mount over /proc/sys, for the one write below.
        sysctl = os.open("/proc/sys/user", os.O_PATH | os.O_DIRECTORY)
        linux.mount("/proc/sys", "/proc/sys", None, linux.MS_BIND)
        linux.mount(
            None, "/proc/sys", None, linux.MS_BIND | linux.MS_REMOUNT | linux.MS_RDONLY | flags
        )
        if spec.own_network:
            linux.loopback_up()
        linux.set_hostname(spec.hostname)
        linux.unshare(linux.CLONE_NEWUSER)
        _write("/proc/self/setgroups", b"deny")
        # The supervisor is user 0 of its own namespace, the only user that is mapped there.
        _write("/proc/self/uid_map", f"{USER_ID} 0 1".encode())
        _write("/proc/self/gid_map", f"{USER_ID} 0 1".encode())
        limit = os.open("max_user_namespaces", os.O_WRONLY, dir_fd=sysctl)
        os.write(limit, b"0")

    def _mount_root(self, writable_root: dict[str, Any]) -> int:
        from . import overlay

        for path in writable_root["places"]:
            os.close(open_mount_point(path))
        return overlay.mount_root(writable_root, self._archive)


def _make_folder(path: str, user: tuple[int, int] | None) -> None:
    """Make a folder for a user; only links of root and of this process's user are followed."""
    if user is None:
        os.makedirs(path)
        return
    trusted = (0, os.geteuid())
    fd = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        made = False
        for name in path.strip("/").split("/"):
            try:
                os.mkdir(name, 0o755, dir_fd=fd)
                made = True
            except FileExistsError:
                made = False
            found = os.stat(name, dir_fd=fd, follow_symlinks=False)
            followed = 0 if found.st_uid in trusted and not made else os.O_NOFOLLOW
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | followed
            above, fd = fd, os.open(name, flags, dir_fd=fd)
            os.close(above)
        if made:
            os.fchown(fd, *user)
    finally:
        os.close(fd)


def _mount_memory(entry: dict[str, Any]) -> None:
    point = open_mount_point(entry["path"])
    options = f"size={entry['size']},nr_inodes={entry['inodes']},mode={entry['mode']}"
    flags = linux.MS_NOSUID | linux.MS_NODEV
    linux.mount("tmpfs", mount_path(point), "tmpfs", flags, options)
    os.close(point)


def _remount_memory(entry: dict[str, Any]) -> None:
    point = open_mount_point(entry["path"])
    options = f"size={entry['size']},nr_inodes={entry['inodes']}"
    flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_REMOUNT
    # Not by a path below /proc, which shows the machine's processes and not this one.
    os.fchdir(point)
    linux.mount(None, ".", None, flags, options)
    os.close(point)


def _bind(source: int, path: str) -> None:
    """Bind an open file or folder to a path, and close its descriptor."""
    point = open_mount_point(path, is_folder=stat.S_ISDIR(os.fstat(source).st_mode))
    linux.mount(mount_path(source), mount_path(point), None, linux.MS_BIND | linux.MS_REC)
    os.close(point)
    os.close(source)


def join_namespaces(pidfd: int, *, own_network: bool) -> None:
    """Join every namespace of a machine but the PID one, by the pidfd of its init."""
    flags = _NAMESPACES | linux.CLONE_NEWUSER | (linux.CLONE_NEWNET if own_network else 0)
    linux.setns(pidfd, flags)


def _write(path: str, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def _run_child(child: Callable[[], NoReturn]) -> NoReturn:
    try:
        child()
    except BaseException as error:  # noqa: BLE001 - nothing may unwind into the supervisor's loop
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(127)


def _reap_until_closed(control: socket.socket) -> None:
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with selectors.DefaultSelector() as selector:
        selector.register(wake_read, selectors.EVENT_READ)
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is control:
                    command = control.recv(1)
                    if not command:
                        return
                    try:
                        os.kill(-1, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                    control.send(_KILL_ALL)
                else:
                    os.read(wake_read, 4096)
            _reap()


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def find_user(spec: str) -> tuple[int, int]:
    """Return user and group number for ``user[:group]``, each a number or a name.

    Without a group it is the user's own, and 0 for a number that the image does not know.

    Raises:
        LookupError: The image has no such user or group.
    """
    name, _, group = spec.partition(":")
    entry = _entry("/etc/passwd", name)
    if entry is None and not name.isdecimal():
        raise LookupError(f"the image has no user {name!r}")
    user = int(entry[2]) if entry is not None else int(name)
    if not group:
        return user, int(entry[3]) if entry is not None else 0
    if group.isdecimal():
        return user, int(group)
    found = _entry("/etc/group", group)
    if found is None:
        raise LookupError(f"the image has no group {group!r}")
    return user, int(found[2])


def _entry(path: str, name: str) -> list[str] | None:
    """Return the fields of a user or group, found by name or number."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                fields = line.rstrip("\n").split(":")
                if len(fields) > 3 and name in (fields[0], fields[2]) and fields[2].isdecimal():
                    return fields
    except OSError:
        pass
    return None


def restore_files(source: str, target: str, user: tuple[int, int] | None) -> None:
    """Copy the contents of a folder into another one, as a user of the machine.

    Raises:
        OSError: The copy failed.
    """
    import shutil

    def copy_all() -> None:
        if user is not None:
            linux.set_user(*user)
        for entry in os.scandir(source):
            copy = os.path.join(target, entry.name)
            if entry.is_dir(follow_symlinks=False):
                shutil.copytree(entry.path, copy, symlinks=True)
            else:
                shutil.copy2(entry.path, copy, follow_symlinks=False)

    run_in_child(copy_all, "the saved files could not be copied")


def run_in_child(work: Callable[[], None], failure: str) -> None:
    """Run `work` in a forked child, and wait for its end.

    Raises:
        OSError: The work failed or its process was killed; `failure` begins the message.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            work()
            os.write(write, _DONE)
        except BaseException as error:  # noqa: BLE001 - reported to the parent
            os.write(write, str(error).encode("utf-8", "replace")[:4000])
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as report:
        result = report.read()
    os.waitpid(pid, 0)
    if result != _DONE:
        reason = result.decode("utf-8", "replace") or "its process died"
        raise OSError(f"{failure}: {reason}")
