"""What of ours in an engine can be removed, why the rest stays, and the removing."""

import contextlib
import datetime
import secrets
from collections.abc import Iterable
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.inventory import list_resources, measure_memory
from llm_sandbox.backends.containers.gc.labels import MARK, new_labels
from llm_sandbox.backends.containers.gc.removal import remove_now
from llm_sandbox.backends.containers.snapshot_images import SAVING, SNAPSHOT, snapshot_times
from llm_sandbox.backends.containers.volumes.layers import LAYERS_VOLUME
from llm_sandbox.backends.containers.volumes.runtime import COMPLETE, describe_runtime
from llm_sandbox.backends.inventory import Decision, Inventory, Owner, Resource
from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import ContainerGoneError, ImageNotFoundError, SandboxError

__all__ = ["EngineInventory", "GarbageCollector"]

_GUEST = "llm-sandbox-guest-"
_FROM_DOCKERFILE = "llm-sandbox/from-dockerfile"
_FILLER_S = 600.0
_UNKNOWN_S = 3600.0
_DOCKERFILE_S = 86400.0


class EngineInventory(Inventory):
    """See `Inventory`.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def resources(self) -> list[Resource]:
        return list_resources(self._engine)

    def measure(self, resources: Iterable[Resource]) -> list[Resource]:
        return measure_memory(self._engine, resources)

    def decide(self, resources: Iterable[Resource], min_age_s: float = 0.0) -> list[Decision]:
        return GarbageCollector(self._engine, min_age_s).decide(resources)

    def collect(self, decisions: Iterable[Decision]) -> list[Decision]:
        return GarbageCollector(self._engine).collect(decisions)

    def remove(self, container: str) -> None:
        remove_now(self._engine, container)


class GarbageCollector:
    """Decides, and removes. What a living process owns stays, as does what may be somebody's.

    Args:
        engine: The engine.
        younger_stays_s: Seconds; what is younger stays in any case.
    """

    def __init__(self, engine: Engine, younger_stays_s: float = 0.0) -> None:
        self._engine = engine
        self._younger_s = younger_stays_s
        self._now = datetime.datetime.now(datetime.UTC)

    def decide(self, resources: Iterable[Resource]) -> list[Decision]:
        """Decide on all that an engine holds; nothing is removed."""
        held = list(resources)
        self._any_image = next((one.id for one in held if one.kind == "image"), None)
        return [self._decide(one) for one in held]

    def _decide(self, one: Resource) -> Decision:
        rules = {
            "sandbox": self._decide_container,
            "filler": self._decide_container,
            "container": lambda _: (False, "somebody made it by hand"),
            "volume": self._decide_volume,
            "image": self._decide_image,
        }
        remove, why = rules[one.kind](one)
        if remove and one.age_s(self._now) < self._younger_s:
            return Decision(one, remove=False, why=f"it is younger than {self._younger_s:.0f} s")
        return Decision(one, remove, why)

    def _decide_container(self, one: Resource) -> tuple[bool, str]:
        whose = "nobody" if one.owner is None else f"process {one.owner.pid}"
        age = one.age_s(self._now)
        match one.owner_state:
            case "alive":
                return False, f"{whose} uses it"
            case "dead":
                return True, f"{whose}, which made it, has ended"
            case "none":
                return _aged(age, _FILLER_S, "a sandbox was being saved through it")
            case _:
                where = f"made on {one.owner.host}" if one.owner is not None else "made elsewhere"
                if one.state in ("running", "paused"):
                    # A sandbox ends by itself with the process that made it, wherever that is.
                    return False, f"{where}, where its process seems to live"
                return _aged(age, _UNKNOWN_S, f"{where}, and it does not run")

    def _decide_volume(self, one: Resource) -> tuple[bool, str]:
        if one.in_use:
            return False, "containers use it"
        if one.owner_state == "alive":
            return False, "the process that made it lives"
        current = one.labels.get(MARK) == VERSION
        if one.id.startswith(_GUEST):
            if one.id != self._guest_volume():
                # Another program's Python may be about to use it; it would be filled again.
                least = 0.0 if one.owner_state == "dead" else _UNKNOWN_S
                why = "it serves another version, or another Python, and no container uses it"
                return _aged(one.age_s(self._now), least, why)
            if self._lacks(one.id, COMPLETE):
                return True, "it was left half-filled"
            return False, "the next sandbox uses it"
        if one.id == LAYERS_VOLUME:
            return False, f"it holds installed libraries: {self._engine.name} volume rm {one.id}"
        if not current:
            return True, f"it is of version {one.labels.get(MARK)}, and no container uses it"
        return False, "the next sandbox uses it"

    def _decide_image(self, one: Resource) -> tuple[bool, str]:
        by_hand = f"{self._engine.name} rmi {one.name}"
        saving = Owner.parse(one.labels.get(SAVING, ""))
        if saving is not None and not one.tags:
            if saving.is_alive:
                return False, f"process {saving.pid} is saving a sandbox"
            if saving.is_here:
                # What it saved through uses it, and is removed before.
                return True, f"process {saving.pid} was saving a sandbox, and has ended"
        if one.in_use:
            return False, "containers use it"
        if SNAPSHOT in one.labels:
            _, expires = snapshot_times(one.labels)
            if expires is not None and expires <= self._now.timestamp():
                return True, "a sandbox was saved in it, and its time to live is over"
            return False, f"a sandbox was saved in it: {by_hand}"
        age = one.age_s(self._now)
        if not one.tags:
            return _aged(age, _UNKNOWN_S, "it has no name, and no container uses it")
        if all(_FROM_DOCKERFILE in tag.rpartition(":")[0] for tag in one.tags):
            why = "it was built from a Dockerfile, and no container uses it"
            return _aged(age, _DOCKERFILE_S, why)
        return False, f"it has a name of its own: {by_hand}"

    def _guest_volume(self) -> str:
        return f"{_GUEST}{describe_runtime(self._engine.architecture).digest}"

    def _lacks(self, volume: str, marker: str) -> bool:
        """Whether a file is missing in a volume; False where that cannot be looked up."""
        if self._any_image is None:
            return False
        api: Any = self._engine.api
        folder = f"/llm-sandbox-{secrets.token_hex(8)}"
        with contextlib.suppress(SandboxError), self._engine.errors("look"):
            made = api.create_container(
                self._any_image,
                ["true"],
                labels=new_labels(),
                host_config=api.create_host_config(
                    binds=[f"{volume}:{folder}:nocopy"], network_mode="none"
                ),
            )
            try:
                with self._engine.errors("look"):
                    stream, _ = api.get_archive(made["Id"], f"{folder}/{marker}")
                    for _ in stream:
                        pass
            except ContainerGoneError:
                return True
            finally:
                api.remove_container(made["Id"], v=False, force=True)
        return False

    def collect(self, decisions: Iterable[Decision]) -> list[Decision]:
        """Remove what is to be removed; returns what came of it."""
        return [self._collect(one) if one.remove else one for one in decisions]

    def _collect(self, decision: Decision) -> Decision:
        one, api = decision.resource, self._engine.api
        try:
            with self._engine.errors("remove", one.name):
                if one.kind == "volume":
                    api.remove_volume(one.id)
                elif one.kind == "image":
                    for name in one.tags or (one.id,):
                        api.remove_image(name)
                else:
                    remove_now(self._engine, one.id)
        except (ContainerGoneError, ImageNotFoundError):
            pass
        except SandboxError as error:
            return Decision(one, remove=False, why=error.message)
        return decision


def _aged(age_s: float, least_s: float, why: str) -> tuple[bool, str]:
    """What goes once it is old enough."""
    if age_s > least_s or not least_s:
        return True, why
    minutes = least_s / 60
    within = f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.0f} hours"
    return False, f"{why}, yet it is younger than {within}"
