"""Private root of sandboxes without an image: read-only parts of this computer's file system.

It has what an interpreter needs: the system's programs and libraries, a few files of /etc, the
Python environment, our guest code, and the installed layers. Home directories, the caller's working
directory, /var, /run and /sys are not in it.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.limits import Limits

__all__ = [
    "BUILD_LIMITS",
    "BUILD_ROOT",
    "SEARCH_PATH",
    "Layout",
    "describe_root",
    "program_environment",
]

SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Folders of the root's programs."""

BUILD_ROOT = "/build"
"""Folder that a machine for building layers writes them to."""
BUILD_LIMITS = Limits(
    memory_bytes=2 << 30, workdir_bytes=1 << 30, file_size_bytes=4 << 30, inodes=1 << 20
)
"""Limits of a machine for building layers."""

_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

_ETC = (
    "alternatives",
    "fonts",
    "ImageMagick-6",
    "ImageMagick-7",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "R",
    "timezone",
)
"""Files of the host's /etc that hold no secrets and that interpreters and libraries read."""

_CERTIFICATES = ("ssl/certs", "pki/ca-trust", "pki/tls/certs")
"""Certificate authorities: the network of a sandbox may be opened at any time."""

_ETC_FOR_NETWORK = ("ca-certificates", "ca-certificates.conf", "pki", "resolv.conf")
"""Further files for an open network."""


@dataclass
class Layout:
    """Description of a private root.

    Attributes:
        binds: Path inside to host path, bound read-only.
        writable: Path inside to host path, bound writable: only for building layers.
        links: Path inside to what it links to.
        files: Path inside to content.
        folders: Empty folders, as mount points.
    """

    binds: dict[str, str] = field(default_factory=dict)
    writable: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)


def describe_root(*, network: bool, layers: Path | None) -> Layout:
    """Describe the root that every sandbox of this process shares.

    Args:
        network: Whether name resolution and certificates are included.
        layers: The host's folder of installed layers.
    """
    python = environment.current()
    guest = environment.PACKAGE / "guest"
    layout = Layout(folders=["/sandbox", "/run", "/var", "/home", "/mnt", "/opt"])
    layout.binds["/usr"] = "/usr"
    for folder in _SYSTEM_FOLDERS:
        if os.path.islink(folder):
            layout.links[folder] = os.readlink(folder)
        elif os.path.isdir(folder):
            layout.binds[folder] = folder
    for name in (*_ETC, *_CERTIFICATES, *(_ETC_FOR_NETWORK if network else ())):
        path = os.path.realpath(f"/etc/{name}")
        if os.path.exists(path):
            layout.binds[f"/etc/{name}"] = path
    own = ("passwd", "group", "hosts", "nsswitch.conf", *(() if network else ("resolv.conf",)))
    for name in own:
        layout.binds[f"/etc/{name}"] = str(guest / "etc" / name)
    layout.binds[f"{environment.GUEST_ROOT}/guest"] = str(guest)
    shim = environment.PACKAGE / "language_handlers" / "python" / "shim"
    layout.binds[f"{environment.GUEST_ROOT}/shim"] = str(shim)
    for language, source in environment.shims().items():
        layout.binds[f"{environment.GUEST_ROOT}/languages/{language}"] = str(source)
    for host, inside in python.binds.items():
        layout.binds[inside] = host
    layout.links.update(python.links)
    layout.links["/var/tmp"] = "/tmp"  # noqa: S108 - inside the sandbox
    layout.files.update(python.files)
    if layers is not None:
        layout.binds[environment.LAYERS_ROOT] = str(layers)
    return layout


def program_environment(home: str, *, caches: str = "/tmp") -> dict[str, str]:  # noqa: S108
    """Return the environment of every program in the root, before the caller's additions.

    Args:
        home: Home directory.
        caches: Folder of caches, so that they are not among the user's files.
    """
    python = environment.current()
    variables = {
        "PATH": f"{python.bin}:{SEARCH_PATH}",
        "HOME": home,
        "USER": "sandbox",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "XDG_CACHE_HOME": f"{caches}/.cache",
        "XDG_CONFIG_HOME": f"{caches}/.config",
        "MPLCONFIGDIR": f"{caches}/.matplotlib",
        "IPYTHONDIR": f"{caches}/.ipython",
    }
    if python.library_path:
        variables["LD_LIBRARY_PATH"] = python.library_path
    return variables
