"""Named volumes of an engine that are filled by us and mounted read-only ever after.

A volume, unlike a bind mount, is there for an engine on another machine as well, and unlike an
image of ours it leaves the caller's image as it is.
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
"""Mode in which containers get such a volume. Nothing that an image has at the same path is ever
copied into it, as engines do with a volume that is empty."""

_ATTEMPT = "llm-sandbox.attempt"
_POLL_S = 0.1
_ABANDONED_S = 900.0
_YOUNG_S = 120.0


class EngineVolume:
    """One volume.

    Its content arrives through containers that are made and never started. Nothing of their image
    is run, and nothing of it gets into the volume: they have it at a path that no image has.

    Args:
        engine: The engine.
        name: Of the volume.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        self.mountpoint = ""
        """Where it is on the engine's machine, once it is made."""
        self.is_young = False
        """Whether it was made so lately that whoever made it may still be filling it."""
        self._engine = engine

    def make(self) -> bool:
        """Have the volume there; returns whether it was not.

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
        """Put in what is missing; returns whether it was.

        Args:
            image: Any image that the engine has.
            marker: Path in the volume of a file that is there when the rest is.
            archive: Makes a tar archive of the rest, with the marker as its last member.
            deadline: Until when.
            part: Says which part of the volume it is: of each, one is brought at a time.

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
                # With the volumes that the image itself asks for.
                self._engine.api.remove_container(container, v=True, force=True)
        except BackendError:
            remove_soon(self._engine, container)

    def _claim(self, image: str, name: str, folder: str, deadline: Deadline) -> str:
        """Make the container through which a part is filled. Its name keeps others out."""
        attempt = secrets.token_hex(8)
        while True:
            try:
                return self._create(image, name, folder, attempt)
            except BackendError as error:
                # Only the engine's words tell a name that is taken from another refusal.
                if "in use" not in error.message:
                    raise
                # None when it has just gone, or is only just being made.
                other = self._other(name)
                if other is not None and _is_abandoned(other):
                    self._remove(str(other["Id"]))
                elif deadline.expired:
                    raise SandboxTimeoutError(
                        "another program is still bringing the same files", op="copy"
                    ) from None
            except BaseException:
                # It may have been made although nobody heard of it.
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
        # Podman has another word for one that is just being removed.
        with contextlib.suppress(ContainerGoneError, BackendError), self._engine.errors("inspect"):
            found: dict[str, Any] = self._engine.api.inspect_container(name)
            return found
        return None


def _labels(container: dict[str, Any]) -> dict[str, str]:
    return (container.get("Config") or {}).get("Labels") or {}


def _is_abandoned(container: dict[str, Any]) -> bool:
    """Whether its maker has left it behind."""
    labels = _labels(container)
    owner = Owner.parse(labels.get(OWNER, ""))
    alive = owner.is_alive if owner is not None else None
    if alive is not None:
        return not alive
    # Made from another machine, where nobody works at it for that long.
    return _age_s(labels, unknown=0.0) > _ABANDONED_S


def _age_s(labels: dict[str, str], unknown: float = math.inf) -> float:
    try:
        made = datetime.datetime.fromisoformat(labels[STARTED])
        return (datetime.datetime.now(datetime.UTC) - made).total_seconds()
    except (KeyError, ValueError, TypeError):
        return unknown
