"""Named volumes of an engine, filled once by this library and then mounted read-only.

Unlike a bind mount, a volume also reaches an engine on another machine; unlike an image, it leaves
the caller's image as it is.
"""

import contextlib
import datetime
import math
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.labels import OWNER, STARTED, new_labels
from llm_sandbox.backends.containers.gc.removal import remove_soon
from llm_sandbox.backends.inventory import Owner
from llm_sandbox.exceptions import BackendError, ContainerGoneError, SandboxTimeoutError
from llm_sandbox.limits import Deadline

__all__ = ["READ_ONLY", "EngineVolume"]

READ_ONLY = "ro,nocopy"
"""Mode of such a mount. Without ``nocopy`` engines copy the image's files at the same path into an
empty volume."""

_ATTEMPT = "llm-sandbox.attempt"
_POLL_S = 0.1
_ABANDONED_S = 900.0
_YOUNG_S = 120.0


class EngineVolume:
    """One volume.

    Its files are copied through containers that are created and never started. They mount it at a
    path that no image has, so that no file of their image gets into the volume.

    Args:
        engine: The engine.
        name: Name of the volume.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        self.mountpoint = ""
        """Its folder on the engine's machine; empty before `make`."""
        self.is_young = False
        """Whether it is so new that its creator may still be filling it."""
        self._engine = engine

    def make(self) -> bool:
        """Create the volume unless it exists; returns whether it was created.

        Raises:
            BackendError: The engine refused.
        """
        api = self._engine.api
        try:
            with self._engine.errors("volume"):
                found = api.inspect_volume(self.name)
            is_new = False
        except ContainerGoneError:
            with self._engine.errors("volume"):
                found = api.create_volume(self.name, labels=new_labels())
            is_new = True
        self.mountpoint = str(found.get("Mountpoint") or "")
        self.is_young = is_new or _age_s(found.get("Labels") or {}) < _YOUNG_S
        return is_new

    def fill(
        self,
        image: str,
        marker: str,
        archive: Callable[[], bytes | Iterable[bytes]],
        deadline: Deadline,
        *,
        part: str = "fill",
    ) -> bool:
        """Copy files into the volume unless they are complete; returns whether they were copied.

        Args:
            image: Any image that the engine has.
            marker: Path in the volume of the file that marks them as complete.
            archive: Returns a tar archive of the files, with the marker as its last member.
            deadline: When to give up.
            part: Name of this part of the volume; one process at a time copies each part.

        Raises:
            BackendError: The engine refused.
            SandboxTimeoutError: The deadline passed.
        """
        folder = f"/llm-sandbox-{secrets.token_hex(8)}"
        container = self._claim(image, f"{self.name}-{part}", folder, deadline)
        api = self._engine.api
        try:
            with contextlib.suppress(ContainerGoneError):
                with self._engine.errors("look"):
                    stream, _ = api.get_archive(container, f"{folder}/{marker}")
                    for _ in stream:
                        pass
                return False
            with self._engine.errors("copy"):
                if not api.put_archive(container, folder, archive()):
                    raise BackendError(
                        f"{self._engine.name} did not take files", backend=self._engine.name
                    )
            return True
        finally:
            self._remove(container)

    def _remove(self, container: str) -> None:
        try:
            with contextlib.suppress(ContainerGoneError), self._engine.errors("remove"):
                # With the anonymous volumes that the image declares.
                self._engine.api.remove_container(container, v=True, force=True)
        except BackendError:
            remove_soon(self._engine, container)

    def _claim(self, image: str, name: str, folder: str, deadline: Deadline) -> str:
        """Create the container through which a part is filled. Its name is the lock."""
        attempt = secrets.token_hex(8)
        while True:
            try:
                return self._create(image, name, folder, attempt)
            except BackendError as error:
                # Only the message tells a name that is taken from another refusal.
                if "in use" not in error.message:
                    raise
                # None if it has just been removed, or is just being created.
                other = self._other(name)
                if other is not None and _is_abandoned(other):
                    self._remove(str(other["Id"]))
                elif deadline.expired:
                    raise SandboxTimeoutError(
                        "another program is still bringing the same files", op="copy"
                    ) from None
            except BaseException:
                # It may have been created although the answer was lost.
                other = self._other(name)
                if other is not None and _labels(other).get(_ATTEMPT) == attempt:
                    self._remove(str(other["Id"]))
                raise
            time.sleep(_POLL_S)

    def _create(self, image: str, name: str, folder: str, attempt: str) -> str:
        api = self._engine.api
        with self._engine.errors("create", image):
            made: dict[str, Any] = api.create_container(
                image,
                ["true"],
                name=name,
                labels={**new_labels(), _ATTEMPT: attempt},
                host_config=api.create_host_config(
                    binds=[f"{self.name}:{folder}"], network_mode="none"
                ),
            )
        return str(made["Id"])

    def _other(self, name: str) -> dict[str, Any] | None:
        # Podman answers with another error for a container that is just being removed.
        with contextlib.suppress(ContainerGoneError, BackendError), self._engine.errors("inspect"):
            found: dict[str, Any] = self._engine.api.inspect_container(name)
            return found
        return None


def _labels(container: dict[str, Any]) -> dict[str, str]:
    return (container.get("Config") or {}).get("Labels") or {}


def _is_abandoned(container: dict[str, Any]) -> bool:
    """Return whether the process that created the container has left it behind."""
    labels = _labels(container)
    owner = Owner.parse(labels.get(OWNER, ""))
    alive = owner.is_alive if owner is not None else None
    if alive is not None:
        return not alive
    # Created from another machine; no copy takes that long.
    return _age_s(labels, unknown=0.0) > _ABANDONED_S


def _age_s(labels: dict[str, str], unknown: float = math.inf) -> float:
    try:
        made = datetime.datetime.fromisoformat(labels[STARTED])
        return (datetime.datetime.now(datetime.UTC) - made).total_seconds()
    except (KeyError, ValueError, TypeError):
        return unknown
