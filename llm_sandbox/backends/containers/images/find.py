"""Which image a container is made of: found, pulled or built."""

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.images.build import ImageBuilder
from llm_sandbox.backends.containers.images.dockerfile import Dockerfile
from llm_sandbox.backends.containers.images.stream import pull
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.recipes import (
    get_recipe,
    image_name,
    recipe_name,
    recipe_names,
)
from llm_sandbox.exceptions import ImageNotFoundError
from llm_sandbox.settings import get_settings

__all__ = ["Images", "ResolvedImage"]

_EVERY_S = 5.0


@dataclass(frozen=True)
class ResolvedImage:
    """An image that the engine has."""

    id: str
    """What the engine knows it by, whatever happens to its name."""
    name: str
    """What the caller knows it by."""
    built: bool = False
    """Whether the call that returned it has built it from the caller's Dockerfile."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Its environment variables."""
    workdir: str | None = None
    """Its working directory; None when it names none."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Its labels."""


class Images:
    """The images of one engine. Safe to use from several threads and processes.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def resolve(self, options: ContainerOptions, say: Callable[[str], None]) -> ResolvedImage:
        """Return the image that options ask for; one call of the engine when it is there.

        What is missing is built or pulled, or refused when the setting `missing_images`
        (``LLM_SANDBOX_MISSING_IMAGES``) says so. A Dockerfile is built in any case.

        Args:
            options: What is asked of a container.
            say: Called with what is being waited for: at once, and then every 5 s at most.

        Raises:
            BackendUnavailableError: The engine does not answer.
            ImageNotFoundError: It does not have the image, and none may or can be made.
            ImagePullError: The image cannot be pulled.
            BackendError: It cannot be built; the message has the last 20 lines.
            ValidationError: There is no such Dockerfile.
        """
        if options.dockerfile is not None:
            dockerfile = Dockerfile.find(options.dockerfile, is_kept=options.keep_template)
            return self._from_dockerfile(dockerfile, say)
        name = options.image or image_name(options.lang)
        found = self._engine.find_image(name)
        if found is None:
            with _one_at_a_time(self._engine, name):
                # Another session may have waited for the same.
                found = self._engine.find_image(name) or self._fetch(name, options, say)
        return _resolved(name, found)

    def _fetch(
        self, name: str, options: ContainerOptions, say: Callable[[str], None]
    ) -> dict[str, Any]:
        own = options.image in (None, image_name(options.lang))
        if own and recipe_name(options.lang) not in recipe_names():
            raise ImageNotFoundError(
                name,
                backend=self._engine.name,
                hint=f"this version brings no image for {options.lang}: name one with image=, "
                "or a Dockerfile with dockerfile=",
            )
        by_hand = (
            f"llm-sandbox images build {options.lang} --engine {self._engine.name}"
            if own
            else f"{self._engine.name} pull {name}"
        )
        if get_settings().missing_images == "refuse":
            raise ImageNotFoundError(name, backend=self._engine.name, hint=by_hand)
        detail = _Seldom(say)
        if own:
            say(f"the image {name} is missing, and is built now; this takes some minutes")
            recipe = get_recipe(options.lang)
            ImageBuilder(self._engine, say=say, detail=detail).build(recipe)
        else:
            say(f"pulling the image {name}")
            pull(self._engine, name, detail)
        found = self._engine.find_image(name)
        if found is None:
            raise ImageNotFoundError(name, backend=self._engine.name, hint=by_hand)
        return found

    def _from_dockerfile(self, dockerfile: Dockerfile, say: Callable[[str], None]) -> ResolvedImage:
        name = dockerfile.image
        found = self._engine.find_image(name)
        if found is not None:
            return _resolved(name, found)
        with _one_at_a_time(self._engine, name):
            found = self._engine.find_image(name)
            if found is not None:
                return _resolved(name, found)
            say(f"building an image from {dockerfile.path}")
            dockerfile.build(self._engine, _Seldom(say))
            found = self._engine.find_image(name)
        if found is None:
            raise ImageNotFoundError(name, backend=self._engine.name)
        return _resolved(name, found, built=True)


class _Seldom:
    """Passes on what is said often, now and then."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._next = time.monotonic() + _EVERY_S

    def __call__(self, words: str) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY_S
            self._say(words)


def _resolved(name: str, found: dict[str, Any], *, built: bool = False) -> ResolvedImage:
    config = found.get("Config") or {}
    env = dict(line.partition("=")[::2] for line in config.get("Env") or ())
    labels = dict(config.get("Labels") or {})
    return ResolvedImage(found["Id"], name, built, env, config.get("WorkingDir") or None, labels)


@contextlib.contextmanager
def _one_at_a_time(engine: Engine, name: str) -> Iterator[None]:
    """Twenty sessions that miss one image make it once. A lock on a file holds among processes."""
    folder = Path(get_settings().cache_dir) / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256(f"{engine.name}\0{engine.api.base_url}\0{name}".encode()).hexdigest()
    lock = os.open(folder / f"image-{key[:16]}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
