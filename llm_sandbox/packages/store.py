"""Store of layers: installed libraries in read-only shared folders, named by their content.

Beside the folder of layers, which every sandbox sees, lies one that none sees:

    layers/DIGEST/                 what `sys.path`, or another language's path, gets
    layers-index/requests/KEY.json which layer answers a request
    layers-index/locks/KEY         held while a request is being installed
    layers-index/staging/KEY-*/    an installation in progress, or the rest of one that was killed

A key stands for the requirements together with all that the package manager's answer depends on but
the registry: the interpreter, the platform and what the environment has. So an answer is found
without a package manager and without a network.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.python_environment import LAYERS_ROOT
from llm_sandbox.exceptions import LibraryInstallationError, SandboxTimeoutError
from llm_sandbox.host.terminal import announce
from llm_sandbox.language_handlers.packages import Packages
from llm_sandbox.limits import Deadline
from llm_sandbox.packages.builders import Builder, builder_for
from llm_sandbox.packages.pip import Progress
from llm_sandbox.packages.targets import LanguageTarget, LayerTarget, PythonTarget

__all__ = ["LAYER_FORMAT", "Layer", "LayerStore", "open_language_store", "open_store", "seal"]

_WAIT_S = 600.0
_POLL_S = 0.05
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Layer:
    """Folder of installed libraries."""

    digest: str
    """SHA-256 of the files, which is also the name of the folder."""
    path: Path
    """Path on the host."""
    guest_path: str
    """Path in a sandbox: for `sys.path`. Its programs are in the folder `bin` below."""
    distributions: Mapping[str, str] = field(default_factory=dict)
    """Version of each distribution in the layer; empty when the environment had
    everything already.
    """
    shadows: tuple[str, ...] = ()
    """Distributions that replace another version of the environment."""


class LayerStore:
    """Layers on this computer. Safe to use from several threads and processes.

    Args:
        root: Folder of the layers.
        guest_root: Path of the folder in sandboxes.
        environment: Environment to which layers are added; default: the Python of this process.
    """

    def __init__(
        self,
        root: Path,
        *,
        guest_root: str = LAYERS_ROOT,
        environment: LayerTarget | None = None,
    ) -> None:
        self._root = root
        self._guest_root = guest_root
        self._environment: LayerTarget = environment or PythonTarget()
        index = root.with_name(f"{root.name}-index")
        self._requests = index / "requests"
        self._locks = index / "locks"
        self._staging = index / "staging"

    def find(self, specs: Sequence[str]) -> Layer | None:
        """Return the layer of `specs`; None when they have not been installed yet.

        Read a few names from the disk; start no process and use no network.

        Raises:
            ValidationError: A requirement is malformed.
        """
        return self._recall(self._key(self._environment.normalise(specs)))

    def install(
        self,
        specs: Sequence[str],
        *,
        builder: Builder,
        timeout_s: float | None = _WAIT_S,
        progress: Progress | None = None,
    ) -> Layer:
        """Return the layer of `specs`, installing it if there is none.

        Args:
            specs: Requirements such as ``pandas[excel]>=2,<3``.
            builder: Builder, which is not used when another process has installed the layer in the
                meantime.
            timeout_s: Time limit in seconds, another process's installation of the same included;
                600.
            progress: Callback with a description of each step; it is also printed to stderr, if
                that is a terminal.

        Raises:
            ValidationError: A requirement is malformed; nothing was started.
            LibraryInstallationError: The installation failed; the error has pip's own output.
            SandboxTimeoutError: The installation took longer than `timeout_s`.
        """
        wanted = self._environment.normalise(specs)
        key = self._key(wanted)
        deadline = Deadline.after(timeout_s)
        say = _announce(progress)
        self._make_folders()
        with self._locked(key, deadline, say):
            layer = self._recall(key)
            if layer is not None:
                return layer
            self._remove_leftovers(key)
            staging = self._staging / f"{key}-{secrets.token_hex(4)}"
            staging.mkdir(mode=0o700)
            try:
                builder.build(staging, wanted, deadline, say)
                return self._keep(key, wanted, staging)
            except SandboxTimeoutError as error:
                error.timeout_duration = timeout_s
                raise
            finally:
                shutil.rmtree(staging, ignore_errors=True)

    # --- what is remembered

    def _key(self, specs: Sequence[str]) -> str:
        facts = [LAYER_FORMAT, list(specs), *self._environment.facts()]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def _recall(self, key: str) -> Layer | None:
        try:
            record = json.loads((self._requests / f"{key}.json").read_bytes())
            digest, found, shadows = record["digest"], record["distributions"], record["shadows"]
            if not _DIGEST.fullmatch(digest) or not _are_strings([*found, *found.values()]):
                return None
            if not _are_strings(shadows) or not (self._root / digest).is_dir():
                return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return self._layer(digest, found, shadows)

    def _layer(
        self, digest: str, distributions: Mapping[str, str], shadows: Iterable[str]
    ) -> Layer:
        inside = f"{self._guest_root}/{digest}"
        return Layer(digest, self._root / digest, inside, dict(distributions), tuple(shadows))

    def _remember(self, key: str, specs: Sequence[str], layer: Layer) -> None:
        record = {
            "requirements": list(specs),
            "digest": layer.digest,
            "distributions": dict(layer.distributions),
            "shadows": list(layer.shadows),
        }
        draft = self._requests / f"{key}.{secrets.token_hex(4)}"
        draft.write_text(json.dumps(record, indent=1), encoding="utf-8")
        draft.replace(self._requests / f"{key}.json")

    # --- installing

    def _make_folders(self) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(PermissionError):
            self._root.chmod(0o755)  # sandboxes of root run as another user
        for folder in (self._requests, self._locks, self._staging):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextlib.contextmanager
    def _locked(self, key: str, deadline: Deadline, say: Progress) -> Iterator[None]:
        fd = os.open(self._locks / key, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            told = False
            while not _try_lock(fd):
                if deadline.expired:
                    raise SandboxTimeoutError(
                        "another process is still installing the same libraries", op="install"
                    )
                if not told:
                    say("waiting for another installation of the same libraries")
                    told = True
                time.sleep(_POLL_S)
            yield
        finally:
            os.close(fd)

    def _remove_leftovers(self, held: str) -> None:
        for entry in os.scandir(self._staging):
            key = entry.name.partition("-")[0]
            with contextlib.ExitStack() as stack:
                if key != held:
                    try:
                        fd = os.open(self._locks / key, os.O_RDWR | os.O_CLOEXEC)
                    except OSError:
                        continue
                    stack.callback(os.close, fd)
                    if not _try_lock(fd):
                        continue
                shutil.rmtree(entry.path, ignore_errors=True)

    def _keep(self, key: str, specs: Sequence[str], staging: Path) -> Layer:
        built = staging / "site"
        built.mkdir(exist_ok=True)
        digest = seal(built, self._environment.stamp(), self._environment.caches)
        found = self._environment.find(built)
        base = self._environment.distributions()
        shadows = sorted(name for name in found if base.get(name, found[name]) != found[name])
        try:
            built.rename(self._root / digest)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            # Other requirements led to the same files.
        layer = self._layer(digest, found, shadows)
        self._remember(key, specs, layer)
        return layer


def open_language_store(
    packages: Packages, backend: Backend, place: LayerLocation
) -> tuple[LayerStore, Builder]:
    """Return the store of layers for a language other than Python, and their builder.

    Args:
        packages: The language's package manager.
        backend: Backend of the machine.
        place: Folder of the layers in the machine.
    """
    from llm_sandbox.packages.builders import LanguageBuilder
    from llm_sandbox.settings import get_settings

    image = place.image.image if place.image is not None else ""
    environment = LanguageTarget(packages, backend.search_path, image)
    root = get_settings().cache_dir / "layers"
    store = LayerStore(root, guest_root=place.guest_root, environment=environment)
    return store, LanguageBuilder(packages, backend, place)


def open_store(backend: Backend, place: LayerLocation | None = None) -> tuple[LayerStore, Builder]:
    """Return the store of layers for the Python of a machine, and their builder.

    Args:
        backend: Backend of the machine.
        place: Folder of the layers in the machine; None for this computer's own.

    Raises:
        UnsupportedError: The backend's sandboxes do not use layers.
    """
    from llm_sandbox.settings import get_settings

    root = get_settings().cache_dir / "layers"
    if place is None or place.image is None:
        builder = builder_for(backend)
        guest_root = LAYERS_ROOT if place is None else place.guest_root
        return LayerStore(root, guest_root=guest_root), builder
    from llm_sandbox.packages.image_python import ImageBuilder, ImagePython

    target = ImagePython(place.image, root.with_name(f"{root.name}-index") / "images").target()
    environment = PythonTarget(target, place.image.image)
    builder = ImageBuilder(place.image, target)
    return LayerStore(root, guest_root=place.guest_root, environment=environment), builder


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _are_strings(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _announce(progress: Progress | None) -> Progress:
    def say(words: str) -> None:
        if progress is not None:
            progress(words)
        announce(words)

    return say


LAYER_FORMAT = "llm-sandbox layer 1"
_CACHES = frozenset({"__pycache__"})


def seal(folder: Path, stamp: str, caches: AbstractSet[str] = _CACHES) -> str:
    """Make every file world-readable and owned by this process's user.

    Args:
        folder: Folder of the installation.
        stamp: Distinction from other layers of the same content.
        caches: Names of folders that the digest leaves out, because they were generated from the
            rest. Byte code of Python, by default.

    Returns:
        The digest of the content.

    Raises:
        LibraryInstallationError: The folder contains a link, or another special file.
    """
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise _hostile(folder.name)
    lines = []
    # trust: the tree was written inside; it is walked by descriptors, and no link is followed.
    for path, folders, names, fd in os.fwalk(folder):
        relative = os.path.relpath(path, folder)
        for name in folders:
            if not stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
                raise _hostile(name)
        _own(fd, 0o755)
        counted = caches.isdisjoint(Path(relative).parts)
        for name in names:
            executable, content = _seal_file(name, fd)
            if counted:
                lines.append(f"{relative}/{name}\0{executable}\0{content}\0")
    header = f"{LAYER_FORMAT}\0{stamp}\0"
    text = header + "".join(sorted(lines))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _seal_file(name: str, folder: int) -> tuple[bool, str]:
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        raise _hostile(name) from error
    with os.fdopen(fd, "rb") as file:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            raise _hostile(name)
        executable = bool(mode & 0o100)
        _own(fd, 0o755 if executable else 0o644)
        return executable, hashlib.file_digest(file, "sha256").hexdigest()


def _own(fd: int, mode: int) -> None:
    if os.geteuid() == 0:
        os.fchown(fd, 0, 0)
    os.fchmod(fd, mode)  # after the owner: a change of owner drops bits, and this sets them all


def _hostile(name: str) -> LibraryInstallationError:
    return LibraryInstallationError(
        f"the installed files hold {name!r}, which is neither a file nor a folder", op="install"
    )
