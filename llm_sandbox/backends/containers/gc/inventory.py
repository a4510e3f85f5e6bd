"""What an engine holds of ours: containers, volumes and images, and who made them."""

import contextlib
import datetime
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.labels import MARK, OWNER, STARTED
from llm_sandbox.backends.containers.snapshot_images import SAVING
from llm_sandbox.backends.inventory import Kind, Owner, Resource
from llm_sandbox.exceptions import SandboxError

__all__ = ["list_resources", "measure_memory"]


_ATTEMPT = "llm-sandbox.attempt"
_FRACTION = re.compile(r"(\.\d{6})\d+")
_AT_ONCE = 8


def list_resources(engine: Engine) -> list[Resource]:
    """Return what an engine holds of ours: containers, volumes, images, each oldest first.

    Raises:
        BackendUnavailableError: It does not answer.
        BackendError: It refused to say.
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
        # Podman says `initialized` and `configured` of what Docker calls `created`.
        state=str(facts.get("State") or "").lower(),
        image=_image_name(facts, names),
        network=_network(engine, facts),
        owner=owner,
        started=_moment(labels.get(STARTED) if owner is not None else facts.get("Created")),
        labels=labels,
    )


def _image_name(facts: Mapping[str, Any], names: Mapping[str, str]) -> str:
    asked, identity = str(facts.get("Image") or ""), str(facts.get("ImageID") or "")
    named = names.get(identity, "<none>:<none>")
    # Ours are made by an image's id, which tells people nothing.
    if not asked.startswith("sha256:"):
        return asked
    return identity.removeprefix("sha256:")[:12] if named.startswith("<none>") else named


def _network(engine: Engine, facts: Mapping[str, Any]) -> str | None:
    mode = (facts.get("HostConfig") or {}).get("NetworkMode")
    if not mode:
        with contextlib.suppress(SandboxError), engine.errors("inspect", str(facts["Id"])):
            api: Any = engine.api
            mode = api.inspect_container(facts["Id"])["HostConfig"].get("NetworkMode")
    return str(mode) if mode else None


def _is_inherited(engine: Engine, facts: Mapping[str, Any], owner: str) -> bool:
    """Whether a container only has its image's label: somebody has saved a sandbox as an image."""
    with contextlib.suppress(SandboxError), engine.errors("inspect image"):
        api: Any = engine.api
        image = api.inspect_image(facts.get("ImageID") or facts["Image"])
        return ((image.get("Config") or {}).get("Labels") or {}).get(OWNER) == owner
    return False


def _is_snapshot_filler(facts: Mapping[str, Any]) -> bool:
    # A container of somebody's has the mark as well, from its image.
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
    """A moment as engines and labels write it: seconds since 1970, or ISO 8601."""
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        if isinstance(value, (int, float)):
            return datetime.datetime.fromtimestamp(value, datetime.UTC)
        found = datetime.datetime.fromisoformat(_FRACTION.sub(r"\1", str(value)))
        return found if found.tzinfo is not None else found.replace(tzinfo=datetime.UTC)
    return None


def measure_memory(engine: Engine, resources: Iterable[Resource]) -> list[Resource]:
    """Return the same, with the memory that running containers use as far as the engine tells."""
    with ThreadPoolExecutor(_AT_ONCE, "llm-sandbox-measure") as pool:
        return list(pool.map(lambda one: _measured(engine, one), resources))


def _measured(engine: Engine, resource: Resource) -> Resource:
    if resource.state != "running":
        return resource
    api: Any = engine.api
    with contextlib.suppress(SandboxError, KeyError, TypeError, ValueError):
        with engine.errors("stats", resource.id):
            stats = api.stats(resource.id, stream=False, one_shot=True)["memory_stats"]
        # Files that were read and can be dropped are no one's use.
        cache = (stats.get("stats") or {}).get("total_inactive_file") or 0
        return replace(resource, memory_bytes=max(0, int(stats["usage"]) - int(cache)))
    return resource
