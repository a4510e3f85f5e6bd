"""Links in an image's file system where a container's mounts are to be: an engine follows them."""

import base64
import io
import json
import tarfile
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.mounts import linked_mount
from llm_sandbox.exceptions import BackendError, ContainerGoneError

__all__ = ["reject_links"]

_STATUS = "X-Docker-Container-Path-Stat"
_IS_LINK = 1 << 27
"""Go's bit for a link in the mode of a file, which engines send."""
_MOST_BYTES = 64 << 10


def reject_links(engine: Engine, container: str, paths: Iterable[str]) -> None:
    """Do nothing unless the path of a mount has a link that a program may have made.

    Engines mount at what a link in the image leads to, in the container's own root: over what
    process 1 runs, too. Links of root's are the image's own, as no program there is root.

    Args:
        engine: Where the container is.
        container: Its id; it has been made and not been started.
        paths: Where it is to have mounts; absolute, normalised.

    Raises:
        SecurityError: There is one.
        BackendUnavailableError: The engine does not answer.
    """
    looked: set[str] = set()
    for path in paths:
        for place in (*reversed(PurePosixPath(path).parents), PurePosixPath(path)):
            if place == PurePosixPath("/") or str(place) in looked:
                continue
            looked.add(str(place))
            with engine.errors("inspect", container):
                mode = _mode(engine, container, str(place))
            if mode is None:
                break  # the engine makes it, and all below
            # trust: the image was written by programs; the engine's word of it is not theirs.
            if mode & _IS_LINK and _owner(engine, container, str(place)) != 0:
                raise linked_mount(f"{place.name} of {path}")


def _mode(engine: Engine, container: str, path: str) -> int | None:
    api: Any = engine.api
    url = api._url("/containers/{0}/archive", container)
    answer = api.head(url, params={"path": path}, timeout=api.timeout)
    status = answer.headers.get(_STATUS)
    if status is not None:  # Podman has it for a link that leads to nothing, which it calls absent
        return int(json.loads(base64.b64decode(status))["mode"])
    # Links in a circle are an error of the engine's own.
    return None if answer.status_code == 404 else _IS_LINK


def _owner(engine: Engine, container: str, path: str) -> int | None:
    """Whose a link is; None if that cannot be told."""
    api: Any = engine.api
    try:
        with engine.errors("copy", container):
            pieces, _ = api.get_archive(container, path)
            data = b"".join(pieces)
    except (BackendError, ContainerGoneError):
        return None
    if len(data) > _MOST_BYTES:
        return None
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        member = archive.next()
    return member.uid if member is not None and member.issym() else None
