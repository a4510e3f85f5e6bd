"""Volume of the supervisor's runtime in one engine."""

import threading

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.volumes.engine_volume import EngineVolume
from llm_sandbox.backends.runtime import COMPLETE, Runtime, pack
from llm_sandbox.limits import Deadline

__all__ = ["GuestVolume"]

_PREFIX = "llm-sandbox-guest-"
_WAIT_S = 60.0


class GuestVolume:
    """Volume of one runtime in one engine.

    Args:
        engine: The engine.
        runtime: The files in it.
    """

    def __init__(self, engine: Engine, runtime: Runtime) -> None:
        self._volume = EngineVolume(engine, f"{_PREFIX}{runtime.digest}")
        self.name = self._volume.name
        self._runtime = runtime
        self._lock = threading.Lock()
        self._known = False

    @property
    def mountpoint(self) -> str:
        """Folder of the volume on the engine's machine; empty before `ensure`."""
        return self._volume.mountpoint

    def ensure(self, image: str) -> None:
        """Create and fill the volume unless it is complete.

        Args:
            image: Any image that the engine has; nothing of it is run.

        Raises:
            BackendError: The engine refused.
            SandboxTimeoutError: Another program has been filling it for too long.
        """
        with self._lock:
            if self._known:
                return
            self._volume.make()
            if self._volume.is_young:
                self._fill(image)
            self._known = True

    def repair(self, image: str) -> bool:
        """Fill the volume if it is incomplete, as after a crash; returns whether it was filled."""
        with self._lock:
            self._known = True
            return self._fill(image)

    def _fill(self, image: str) -> bool:
        deadline = Deadline.after(_WAIT_S)
        return self._volume.fill(image, COMPLETE, lambda: pack(self._runtime), deadline)
