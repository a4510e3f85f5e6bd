"""How bubblewrap is told to make the private root, and the namespaces around it."""

from llm_sandbox.backends.host_root import WORKDIR, Layout, describe_root

__all__ = ["BUILD_ROOT", "WORKDIR", "Layout", "arguments", "describe_root"]

BUILD_ROOT = "/build"
"""Where a machine that builds layers writes them."""

_CAPABILITIES = (
    "SYS_ADMIN",  # namespaces and mounts
    "NET_ADMIN",  # bring up loopback
    "SETPCAP",  # empty the bounding set
    "SETFCAP",  # map this namespace's user 0 into a machine's
    "SYS_CHROOT",  # join a mount namespace
    "SYS_PTRACE",  # read the process table of machines
    "KILL",
    "DAC_OVERRIDE",  # the kernel's own work in an overlay, done with its maker's rights
)


def arguments(layout: Layout, *, network: bool, file_fds: dict[str, int]) -> list[str]:
    """The bwrap arguments that make the root and the namespaces around it.

    The process inside is user 0 of a namespace in which that is an unprivileged user of the host,
    with the capabilities that making machines takes and no others.

    Args:
        layout: The root.
        network: Whether the host's network is shared.
        file_fds: Path inside to the descriptor that its content is read from.
    """
    words = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", *([] if network else ["--unshare-net"])]
    words += ["--die-with-parent", "--new-session", "--as-pid-1", "--uid", "0", "--gid", "0"]
    words += ["--hostname", "sandbox", "--clearenv", "--cap-drop", "ALL"]
    for capability in _CAPABILITIES:
        words += ["--cap-add", f"CAP_{capability}"]
    for folder in sorted(layout.folders):
        words += ["--dir", folder]
    for inside, host in sorted(layout.binds.items()):
        words += ["--ro-bind", host, inside]
    for inside, host in sorted(layout.writable.items()):
        words += ["--bind", host, inside]
    for inside, target in sorted(layout.links.items()):
        words += ["--symlink", target, inside]
    for inside, fd in sorted(file_fds.items()):
        words += ["--ro-bind-data", str(fd), inside]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm"]  # noqa: S108
    words += ["--remount-ro", "/dev", "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
    words += ["--remount-ro", "/", "--chdir", "/"]
    return words
