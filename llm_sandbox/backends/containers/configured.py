"""Backends bound to what is asked of their containers: one object for all that ask the same, which
so share an engine's connection and the machines that are kept ready.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.containers.backend import ContainerBackend
from llm_sandbox.backends.containers.snapshot_images import reject_expired
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.exceptions import (
    ImageNotFoundError,
    UnsupportedBackendError,
    UnsupportedError,
    ValidationError,
)

__all__ = ["bind", "bind_image"]

_MOST = 64
"""Sessions whose options never repeat must not keep a backend each for as long as the process."""

_Key = tuple[type[ContainerBackend], ContainerOptions, Mapping[str, str], int]

_lock = threading.RLock()
_bound: OrderedDict[_Key, ContainerBackend] = OrderedDict()


def _renew() -> None:
    global _lock
    _lock = threading.RLock()


# Another thread may hold it while this process is forked.
os.register_at_fork(after_in_child=_renew)


def bind(
    backend: ContainerBackend, options: ContainerOptions, client: object = None
) -> ContainerBackend:
    """Return a backend of the same engine whose containers are made by these options.

    Args:
        backend: One that has no options of its own, or the same.
        options: What is asked; without the variables and the timeout of one session.
        client: The engine's client; None for that of `backend`.

    Raises:
        ValidationError: `backend` has other options, or another client.
    """
    own = getattr(backend, "_client", None)
    is_same_client = client is None or client is own
    if is_same_client and options in (
        backend.options,
        ContainerOptions(lang=backend.options.lang),
    ):
        return backend
    if backend.options != _default_options(backend) or not (is_same_client or own is None):
        raise ValidationError(
            f"the {backend.name} backend that was given has options of its own",
            parameter="backend",
            hint=f"give them all to its ContainerOptions, or name it: backend={backend.name!r}",
        )
    kind = type(backend)
    chosen = own if client is None else client
    # The backend keeps its client, so that no other object comes to have its number.
    key = (kind, options, options.env, id(chosen))
    with _lock:
        found = _bound.get(key)
        if found is None:
            found = _bound[key] = kind(options, chosen)  # type: ignore[call-arg]
            if is_same_client:
                found.share_engine(backend)
            if len(_bound) > _MOST:
                _bound.popitem(last=False)
        _bound.move_to_end(key)
        return found


def bind_image(backend: Backend, image: str | Snapshot) -> Backend:
    """Return a backend of the same engine whose containers are made from an image.

    Raises:
        UnsupportedError: The backend has no images, or not this one.
    """
    if not isinstance(backend, ContainerBackend):
        raise UnsupportedError(
            "image=",
            backend.name,
            "it has no images",
            hint="name a container backend: backend='docker'",
        )
    if isinstance(image, str):
        return bind(backend, replace(backend.options, image=image))
    if image.backend != backend.name or image.store != backend.engine.identity:
        raise UnsupportedError(
            "image=",
            backend.name,
            f"{image.name} was saved by another engine ({image.backend} {image.store})",
            hint="save and load the image there, and give its name",
        )
    found = backend.engine.find_image(image.ref)
    if found is None:
        raise ImageNotFoundError(
            image.name,
            backend=backend.name,
            hint="the snapshot was deleted; what is there: llm-sandbox snapshots list",
        )
    reject_expired(image.name, (found.get("Config") or {}).get("Labels") or {})
    return bind(backend, replace(backend.options, image=image.ref))


def _default_options(backend: ContainerBackend) -> ContainerOptions:
    """What a backend of this kind has when it is given nothing."""
    try:
        registered = get_backend(backend.name)
    except UnsupportedBackendError:
        return ContainerOptions()
    same = type(registered) is type(backend)
    return registered.options if same else ContainerOptions()  # type: ignore[attr-defined]
