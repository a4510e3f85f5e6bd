"""Seccomp profiles as files on the engine's machine, which may be another one."""

import contextlib
import hashlib
import io
import tarfile
import threading
from pathlib import Path

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.volumes.engine_volume import EngineVolume
from llm_sandbox.limits import Deadline

__all__ = ["SeccompProfiles"]

_PREFIX = "llm-sandbox-seccomp-"
_FILE = "profile.json"
_WAIT_S = 60.0


class SeccompProfiles:
    """Seccomp profiles in volumes, from which the engine reads them by path.

    Both the engine and its clients can reach a volume, even across namespaces, virtual machines
    and networks. No sandbox mounts these.

    Args:
        engine: The engine. Safe to use from several threads.
        local: Whether the engine's files are this machine's.
    """

    def __init__(self, engine: Engine, *, local: bool) -> None:
        self._engine = engine
        self._local = local
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}

    def path_of(self, profile: str, image: str) -> str:
        """Copy a profile into its volume unless it is there, and return the path of its file.

        Args:
            profile: Its JSON text.
            image: Any image that the engine has; nothing of it is run.

        Raises:
            BackendError: The engine refused.
            SandboxTimeoutError: Another program keeps the volume busy.
        """
        digest = hashlib.sha256(profile.encode()).hexdigest()[:12]
        with self._lock:
            if digest not in self._known:
                self._known[digest] = self._keep(f"{_PREFIX}{digest}", profile, image)
            return self._known[digest]

    def forget(self) -> None:
        """Forget the known files, as their volumes may have been removed."""
        with self._lock:
            self._known.clear()

    def _keep(self, name: str, profile: str, image: str) -> str:
        volume = EngineVolume(self._engine, name)
        volume.make()
        path = f"{volume.mountpoint}/{_FILE}"
        if not (self._local and _holds(path, profile)):
            volume.fill(image, _FILE, lambda: _archive(profile), Deadline.after(_WAIT_S))
        return path


def _holds(path: str, profile: str) -> bool:
    with contextlib.suppress(OSError, UnicodeError):
        return Path(path).read_text(encoding="utf-8") == profile
    return False


def _archive(profile: str) -> bytes:
    packed = io.BytesIO()
    content = profile.encode()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo(_FILE)
        entry.size, entry.mode = len(content), 0o444
        archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
