"""Inventory of an engine: its containers, volumes and images of this library, and their removal."""

import contextlib
import datetime
import re
import secrets
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.labels import MARK, OWNER, STARTED, new_labels
from llm_sandbox.backends.containers.gc.removal import remove_now
from llm_sandbox.backends.containers.snapshots import SAVING, SNAPSHOT, snapshot_times
from llm_sandbox.backends.containers.volumes.layers import LAYERS_VOLUME
from llm_sandbox.backends.inventory import Decision, Inventory, Kind, Owner, Resource
from llm_sandbox.backends.runtime import COMPLETE, describe_runtime
from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import ContainerGoneError, ImageNotFoundError, SandboxError

__all__ = ["EngineInventory", "GarbageCollector", "list_resources"]

_ATTEMPT = "llm-sandbox.attempt"
_FRACTION = re.compile(r"(\.\d{6})\d+")
_AT_ONCE = 8


def list_resources(engine: Engine) -> list[Resource]:
    """Return the containers, volumes and images of this library, each oldest first.

    Raises:
        BackendUnavailableError: The engine does not answer.
        BackendError: The engine refused.
    """
    api: Any = engine.api
    with engine.errors("list"):
        containers = api.containers(all=True, filters={"label": MARK})
        everyone = api.containers(all=True)
        volumes = api.volumes(filters={"label": MARK})["Volumes"] or []
        unused = {one["Name"] for one in api.volumes(filters={"dangling": True})["Volumes"] or []}
        images = api.images(filters={"label": MARK})
    names = {image["Id"]: (image.get("RepoTags") or ["<none>:<none>"])[0] for image in api.images()}
    found = [_container(engine, facts, names) for facts in containers]
    found += [_volume(engine, facts, in_use=facts["Name"] not in unused) for facts in volumes]
    users = {str(facts.get("ImageID")).removeprefix("sha256:") for facts in everyone}
    found += [
        _image(engine, facts, in_use=str(facts["Id"]).removeprefix("sha256:") in users)
        for facts in images
    ]
    order = ("sandbox", "filler", "container", "volume", "image")
    return sorted(found, key=lambda one: (order.index(one.kind), -one.age_s(), one.name))


def _container(engine: Engine, facts: Mapping[str, Any], names: Mapping[str, str]) -> Resource:
    labels = facts.get("Labels") or {}
    owner = Owner.parse(labels.get(OWNER, ""))
    kind: Kind = "sandbox" if owner is not None else "container"
    if owner is not None and _is_inherited(engine, facts, labels[OWNER]):
        owner, kind = None, "container"
    elif _ATTEMPT in labels or labels.get(SAVING) or (owner is None and _is_snapshot_filler(facts)):
        kind = "filler"
    return Resource(
        engine.name,
        kind,
        str(facts["Id"]),
        str(facts["Id"])[:12],
        # Docker's `created` is `initialized` or `configured` in Podman.
        state=str(facts.get("State") or "").lower(),
        image=_image_name(facts, names),
        network=_network(engine, facts),
        owner=owner,
        started=_moment(labels.get(STARTED) if owner is not None else facts.get("Created")),
        labels=labels,
    )


def _image_name(facts: Mapping[str, Any], names: Mapping[str, str]) -> str:
    requested, identity = str(facts.get("Image") or ""), str(facts.get("ImageID") or "")
    named = names.get(identity, "<none>:<none>")
    # Sandboxes are created by an image's id, which people cannot read.
    if not requested.startswith("sha256:"):
        return requested
    return identity.removeprefix("sha256:")[:12] if named.startswith("<none>") else named


def _network(engine: Engine, facts: Mapping[str, Any]) -> str | None:
    mode = (facts.get("HostConfig") or {}).get("NetworkMode")
    if not mode:
        with contextlib.suppress(SandboxError), engine.errors("inspect", str(facts["Id"])):
            api: Any = engine.api
            mode = api.inspect_container(facts["Id"])["HostConfig"].get("NetworkMode")
    return str(mode) if mode else None


def _is_inherited(engine: Engine, facts: Mapping[str, Any], owner: str) -> bool:
    """Return whether a container has the label from its image, a committed sandbox."""
    with contextlib.suppress(SandboxError), engine.errors("inspect image"):
        api: Any = engine.api
        image = api.inspect_image(facts.get("ImageID") or facts["Image"])
        return ((image.get("Config") or {}).get("Labels") or {}).get(OWNER) == owner
    return False


def _is_snapshot_filler(facts: Mapping[str, Any]) -> bool:
    # A user's container has the mark as well, from its image.
    return str(facts.get("State")).lower() in ("created", "configured") and str(
        facts.get("Command")
    ).split()[-1:] == ["true"]


def _volume(engine: Engine, facts: Mapping[str, Any], *, in_use: bool) -> Resource:
    labels = facts.get("Labels") or {}
    return Resource(
        engine.name,
        "volume",
        str(facts["Name"]),
        str(facts["Name"]),
        owner=Owner.parse(labels.get(OWNER, "")),
        started=_moment(labels.get(STARTED) or facts.get("CreatedAt")),
        in_use=in_use,
        labels=labels,
    )


def _image(engine: Engine, facts: Mapping[str, Any], *, in_use: bool) -> Resource:
    tags = tuple(tag for tag in facts.get("RepoTags") or () if tag != "<none>:<none>")
    identity = str(facts["Id"])
    return Resource(
        engine.name,
        "image",
        identity,
        tags[0] if tags else identity.removeprefix("sha256:")[:12],
        started=_moment(facts.get("Created")),
        in_use=in_use,
        tags=tags,
        labels=facts.get("Labels") or {},
    )


def _moment(value: object) -> datetime.datetime | None:
    """Parse a time of engines and labels: seconds since 1970, or ISO 8601."""
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        if isinstance(value, (int, float)):
            return datetime.datetime.fromtimestamp(value, datetime.UTC)
        found = datetime.datetime.fromisoformat(_FRACTION.sub(r"\1", str(value)))
        return found if found.tzinfo is not None else found.replace(tzinfo=datetime.UTC)
    return None


def _measure_memory(engine: Engine, resources: Iterable[Resource]) -> list[Resource]:
    """Return the resources with the memory that running containers use, where it is known."""
    with ThreadPoolExecutor(_AT_ONCE, "llm-sandbox-measure") as pool:
        return list(pool.map(lambda one: _measured(engine, one), resources))


def _measured(engine: Engine, resource: Resource) -> Resource:
    if resource.state != "running":
        return resource
    api: Any = engine.api
    with contextlib.suppress(SandboxError, KeyError, TypeError, ValueError):
        with engine.errors("stats", resource.id):
            stats = api.stats(resource.id, stream=False, one_shot=True)["memory_stats"]
        # The page cache of files can be dropped, and does not count.
        cache = (stats.get("stats") or {}).get("total_inactive_file") or 0
        return replace(resource, memory_bytes=max(0, int(stats["usage"]) - int(cache)))
    return resource


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
        return _measure_memory(self._engine, resources)

    def decide(self, resources: Iterable[Resource], min_age_s: float = 0.0) -> list[Decision]:
        return GarbageCollector(self._engine, min_age_s).decide(resources)

    def collect(self, decisions: Iterable[Decision]) -> list[Decision]:
        return GarbageCollector(self._engine).collect(decisions)

    def remove(self, container: str) -> None:
        remove_now(self._engine, container)


class GarbageCollector:
    """Decides which resources can be removed, and removes them.

    A resource stays if a living process owns it, or if it may belong to a user.

    Args:
        engine: The engine.
        min_age_s: Seconds; younger resources stay in any case.
    """

    def __init__(self, engine: Engine, min_age_s: float = 0.0) -> None:
        self._engine = engine
        self._min_age_s = min_age_s
        self._now = datetime.datetime.now(datetime.UTC)

    def decide(self, resources: Iterable[Resource]) -> list[Decision]:
        """Return a decision for each resource; nothing is removed yet."""
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
        if remove and one.age_s(self._now) < self._min_age_s:
            return Decision(one, remove=False, why=f"it is younger than {self._min_age_s:.0f} s")
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
                    # A sandbox ends by itself with the process that created it, on any machine.
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
                # Another program's Python may be about to use it, and would fill it again.
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
                # Its filler uses it, and is removed first.
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
        """Return whether a file is missing in a volume; False if that cannot be checked."""
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
        """Carry out decisions; returns them as they came out."""
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
    """Return a decision to remove what is old enough."""
    if age_s > least_s or not least_s:
        return True, why
    minutes = least_s / 60
    within = f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.0f} hours"
    return False, f"{why}, yet it is younger than {within}"
