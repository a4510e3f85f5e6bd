"""Images of a container engine: found, pulled, built and tagged."""

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.labels import MARK
from llm_sandbox.backends.containers.images.build import ImageBuilder, describe_image
from llm_sandbox.backends.containers.images.dockerfile import TEMPLATE, Dockerfile
from llm_sandbox.backends.containers.images.host_programs import download_wheels
from llm_sandbox.backends.containers.images.stream import follow_build, pull
from llm_sandbox.backends.containers.snapshots import SAVED_WORKDIR, SNAPSHOT
from llm_sandbox.backends.images import BaseKind, ImageInfo, ImageStore
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.recipes import (
    Recipe,
    get_recipe,
    image_name,
    recipe_name,
    recipe_names,
)
from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import ImageNotFoundError, ValidationError
from llm_sandbox.guest.constants import USER_ID
from llm_sandbox.settings import get_settings

__all__ = ["EngineImages"]

_EVERY_S = 5.0
_DOCKERFILE = ".llm-sandbox.Dockerfile"


class EngineImages(ImageStore):
    """See `ImageStore`.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, name: str) -> ImageInfo | None:
        found = self._engine.find_image(name)
        return None if found is None else describe_image(name, found)

    def resolve(self, options: ContainerOptions, on_step: Callable[[str], None]) -> ImageInfo:
        if options.dockerfile is not None:
            dockerfile = Dockerfile.find(options.dockerfile, is_kept=options.keep_template)
            return self._from_dockerfile(dockerfile, on_step)
        name = options.image or image_name(options.lang)
        found = self._engine.find_image(name)
        if found is None:
            with _one_at_a_time(self._engine, name):
                # Another session may have waited for the same.
                found = self._engine.find_image(name) or self._fetch(name, options, on_step)
        return describe_image(name, found)

    def _fetch(
        self, name: str, options: ContainerOptions, on_step: Callable[[str], None]
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
        detail = _Throttled(on_step)
        if own:
            on_step(f"the image {name} is missing, and is built now; this takes some minutes")
            recipe = get_recipe(options.lang)
            ImageBuilder(self._engine, on_step=on_step, on_detail=detail).build(recipe)
        else:
            on_step(f"pulling the image {name}")
            pull(self._engine, name, detail)
        found = self._engine.find_image(name)
        if found is None:
            raise ImageNotFoundError(name, backend=self._engine.name, hint=by_hand)
        return found

    def _from_dockerfile(self, dockerfile: Dockerfile, on_step: Callable[[str], None]) -> ImageInfo:
        name = dockerfile.image
        found = self._engine.find_image(name)
        if found is not None:
            return describe_image(name, found)
        with _one_at_a_time(self._engine, name):
            found = self._engine.find_image(name)
            if found is not None:
                return describe_image(name, found)
            on_step(f"building an image from {dockerfile.path}")
            dockerfile.build(self._engine, _Throttled(on_step))
            found = self._engine.find_image(name)
        if found is None:
            raise ImageNotFoundError(name, backend=self._engine.name)
        return describe_image(name, found, built=True)

    def build(
        self,
        folder: Path,
        dockerfile: str,
        *,
        build_args: Mapping[str, str] | None = None,
        use_cache: bool = True,
        what: str = "an image",
        on_line: Callable[[str], None],
    ) -> ImageInfo:
        arguments = {
            "path": str(folder),
            "dockerfile": dockerfile,
            "buildargs": dict(build_args or {}),
            "nocache": not use_cache,
            "labels": {MARK: VERSION},
        }
        image = self._require(follow_build(self._engine, what, arguments, on_line))
        # An image without a name would count as garbage.
        self.tag(image.id, f"{TEMPLATE}:{image.id.removeprefix('sha256:')[:16]}")
        return image

    def _require(self, name: str) -> ImageInfo:
        found = self.find(name)
        if found is None:
            raise ImageNotFoundError(name, backend=self._engine.name)
        return found

    def build_recipe(
        self,
        recipe: Recipe,
        *,
        base: BaseKind = "auto",
        smoke: bool = True,
        force: bool = False,
        on_step: Callable[[str], None],
        on_detail: Callable[[str], None] = lambda _: None,
    ) -> ImageInfo:
        builder = ImageBuilder(
            self._engine, on_step=on_step, on_detail=on_detail, base=base, smoke=smoke
        )
        return builder.build(recipe, force=force)

    def tag(self, image: str, name: str) -> None:
        repository, _, tag = name.rpartition(":")
        with self._engine.errors("tag", name):
            self._engine.api.tag(image, repository, tag)

    def save_workdir(
        self,
        image: str,
        workdir: str,
        *,
        readable: Sequence[str] = (),
        on_line: Callable[[str], None],
    ) -> ImageInfo:
        if "'" in workdir:
            raise ValidationError(
                f"invalid workdir: it cannot have a quote, got {workdir!r}", parameter="workdir"
            )
        # Programs are not root, and pass through folders that only root may otherwise.
        parents = " ".join(f"'{above}'" for above in (*readable, *PurePosixPath(workdir).parents))
        command = (
            f"mkdir -p {SAVED_WORKDIR} && "
            f"if [ -d '{workdir}' ]; then cp -a '{workdir}/.' {SAVED_WORKDIR}/; fi && "
            f"chown -R {USER_ID}:{USER_ID} {SAVED_WORKDIR} && chmod 755 {SAVED_WORKDIR} && "
            f"mkdir -p '{workdir}' && chmod a+rx {parents}"
        )
        lines = [
            f"FROM {image}",
            "USER 0",
            f"RUN {json.dumps(['/bin/sh', '-c', command])}",
            f'LABEL {SNAPSHOT}="workdir"',
        ]
        with tempfile.TemporaryDirectory(prefix="llm-sandbox-build-") as folder:
            Path(folder, _DOCKERFILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
            return self.build(Path(folder), _DOCKERFILE, on_line=on_line)

    def download_wheels(
        self, arguments: Sequence[str], target: Path, on_line: Callable[[str], None]
    ) -> None:
        architecture = self._engine.architecture
        download_wheels(get_recipe("python"), architecture, target, on_line, arguments)


class _Throttled:
    """Passes on at most one progress message every 5 s."""

    def __init__(self, on_step: Callable[[str], None]) -> None:
        self._on_step = on_step
        self._next = time.monotonic() + _EVERY_S

    def __call__(self, message: str) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY_S
            self._on_step(message)


@contextlib.contextmanager
def _one_at_a_time(engine: Engine, name: str) -> Iterator[None]:
    """Hold a lock among processes, so that sessions that miss the same image make it once."""
    folder = Path(get_settings().cache_dir) / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256(f"{engine.name}\0{engine.api.base_url}\0{name}".encode()).hexdigest()
    lock = os.open(folder / f"image-{key[:16]}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
