"""Image builds with the container engine."""

import contextlib
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from llm_sandbox.adapters.modal.configuration import configuration, say
from llm_sandbox.adapters.modal.exception import (
    ImageBuildError,
    NotFoundError,
    UnimplementedError,
)
from llm_sandbox.adapters.modal.image import Image
from llm_sandbox.adapters.modal.image_parts import (
    Base,
    Copy,
    DockerfileBase,
    Lines,
    NamedBase,
    SlimBase,
    SnapshotBase,
    Step,
    copy_into,
)
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.backends.base import Backend, validate_workdir
from llm_sandbox.backends.images import ImageInfo
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.recipes import get_recipe, image_name
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.selection import choose
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.exceptions import BackendError, SandboxError
from llm_sandbox.settings import get_settings

__all__ = ["PreparedImage", "build", "give_name", "prepare"]

_WORKDIR = "/root"
"""Default working directory, as in Modal's images."""
_OWN_WORKDIR = "/sandbox"
_ENGINES = ("docker", "podman")
_WHEELS = "/tmp/llm-sandbox-wheels"  # noqa: S108 - inside an image


@dataclass(frozen=True)
class PreparedImage:
    """Built image with the settings for the sandbox created from it."""

    backend: str
    """Name of the backend."""
    image: str | Snapshot | None
    """Image for `Sandbox.create(image=)`."""
    workdir: str
    """Working directory of the sandbox."""
    env: dict[str, str] = field(default_factory=dict)
    """Environment variables of the image, for backends without images."""
    files: tuple[Copy, ...] = ()
    """Files of this machine that cannot be part of an image; they are mounted read-only."""


def prepare(image: Image, workdir: str | None, copies: Iterable[Copy]) -> PreparedImage:
    """Build the image for a sandbox.

    Args:
        image: Image of the sandbox.
        workdir: Working directory of the sandbox; None for that of the image.
        copies: Files of this machine to copy into the sandbox.

    Raises:
        ImageBuildError: A step failed.
        InvalidError: The working directory is invalid.
        UnimplementedError: The backend does not support images, or this kind of image.
    """
    given = tuple(copies)
    steps = (*image._steps, *given)
    backend = _backend(image, steps)
    if isinstance(image._base, SnapshotBase) and not steps:
        directory = _checked_workdir(workdir or image._workdir or _usual_workdir(backend))
        return PreparedImage(backend.name, image._base.snapshot, directory, dict(image._env))
    if not backend.has_containers:
        return _without_images(backend, image, steps, workdir)
    # What an image has in /tmp is for its later steps: a sandbox's is a file system of its own.
    lasting = tuple(copy for copy in given if not _is_tmp(copy.remote))
    with translated():
        found, is_built = _build(backend, image._base, (*image._steps, *lasting))
    own = found.workdir or ""
    asked = workdir or image._workdir or ("" if own in ("/", _OWN_WORKDIR) else own)
    directory = _checked_workdir(asked or _WORKDIR)
    is_below_root = directory.startswith(f"{_WORKDIR}/")
    if (is_built or own == directory or is_below_root) and not found.is_snapshot:
        with translated():
            found = _keep_workdir(backend, found.id, directory)
        is_built = True
    in_memory = tuple(step for step in steps if isinstance(step, Copy) and _is_tmp(step.remote))
    image._object_id = f"im-{found.id.removeprefix('sha256:')}"
    plain = isinstance(image._base, SlimBase) and not is_built
    return PreparedImage(backend.name, None if plain else found.id, directory, files=in_memory)


def build(image: Image) -> tuple[Backend, str]:
    """Build an image, and return the backend and the id of the image in its engine.

    Raises:
        ImageBuildError: A step failed.
        UnimplementedError: There is no container engine.
    """
    backend = _backend(image, image._steps, needs_engine=True)
    with translated():
        found, _ = _build(backend, image._base, image._steps)
    image._object_id = f"im-{found.id.removeprefix('sha256:')}"
    return backend, found.id


def give_name(built: tuple[Backend, str], name: str) -> None:
    """Tag an image that `build` returned."""
    backend, found = built
    with translated():
        backend.images.tag(found, name)


# --- where


def _backend(image: Image, steps: tuple[Step, ...], *, needs_engine: bool = False) -> Backend:
    named = configuration().backend or get_settings().backend
    slim = isinstance(image._base, SlimBase)
    builds = any(not _is_simple(step) for step in steps)
    if isinstance(image._base, SnapshotBase):
        named = image._base.snapshot.backend
    needs_engine = needs_engine or builds or isinstance(image._base, (NamedBase, DockerfileBase))
    with translated():
        if named is None and needs_engine:
            return _any_engine()
        backend = choose()[0] if named is None else get_backend(str(named).lower())
    if needs_engine and not backend.has_containers:
        raise UnimplementedError(
            "an image with steps" if slim else "an image",
            backend.name,
            "it has no images: sandboxes there have this machine's programs",
            hint="modal.configure(backend='docker'); or Image.debian_slim() with env(), workdir() "
            "and add_local_file() alone",
        )
    _check_python(image, backend)
    return backend


def _any_engine() -> Backend:
    reasons = []
    for name in _ENGINES:
        backend = get_backend(name)
        try:
            backend.check()
        except SandboxError as error:
            reasons.append(f"{name}: {error.message}")
            continue
        return backend
    raise UnimplementedError(
        "an image",
        None,
        "it takes a container engine, and none works here: " + "; ".join(reasons),
        hint="start Docker or Podman; or use Image.debian_slim() without steps",
    )


def _check_python(image: Image, backend: Backend) -> None:
    asked = image._base.python if isinstance(image._base, SlimBase) else None
    if asked is None:
        return
    if backend.has_containers:
        there = str(get_recipe("python").facts["wheels"]["python"])
    else:
        there = "{}.{}".format(*sys.version_info[:2])
    if asked.split(".")[:2] != there.split("."):
        raise UnimplementedError(
            f"debian_slim(python_version={asked!r})",
            backend.name,
            f"the Python there is {there}",
            hint=f"debian_slim(), or from_registry('python:{asked}-slim')",
        )


def _is_simple(step: Step) -> bool:
    """Return whether a step can be applied without building an image."""
    if isinstance(step, Lines):
        return not step.context and all(line.startswith(("ENV ", "WORKDIR ")) for line in step.text)
    return isinstance(step, Copy)


def _without_images(
    backend: Backend, image: Image, steps: tuple[Step, ...], workdir: str | None
) -> PreparedImage:
    directory = _checked_workdir(workdir or image._workdir or _usual_workdir(backend))
    copies = tuple(step for step in steps if isinstance(step, Copy))
    source = image._base.snapshot if isinstance(image._base, SnapshotBase) else None
    return PreparedImage(backend.name, source, directory, dict(image._env), copies)


def _usual_workdir(backend: Backend) -> str:
    """Return the default working directory: not root's home where programs see this machine's
    files.
    """
    with translated():
        isolates = backend.check().level != "none"
    return _WORKDIR if isolates else _OWN_WORKDIR


def _is_tmp(path: str) -> bool:
    return path.startswith("/tmp/")  # noqa: S108 - inside


def _checked_workdir(workdir: str) -> str:
    with translated():
        return validate_workdir(workdir)


# --- building


def _build(backend: Backend, base: Base, steps: tuple[Step, ...]) -> tuple[ImageInfo, bool]:
    """Return the image, and whether a build was needed."""
    base_image = _base_image(backend, base)
    steps = tuple(step for step in steps if not isinstance(step, Lines) or step.text)
    if not steps:
        return _inspect(backend, base_image), isinstance(base, DockerfileBase)
    is_fresh = any(not isinstance(step, Copy) and step.is_fresh for step in steps)
    with tempfile.TemporaryDirectory(prefix="llm-sandbox-modal-") as folder:
        lines = [f"FROM {base_image}", "USER 0"]
        for number, step in enumerate(steps):
            lines += _render(step, Path(folder), f"s{number}", backend, base)
        return _run(backend, Path(folder), lines, is_fresh=is_fresh), True


def _base_image(backend: Backend, base: Base) -> str:
    if isinstance(base, SnapshotBase):
        return base.snapshot.ref
    if isinstance(base, DockerfileBase):
        with _build_errors(backend):
            return backend.images.build(
                base.context,
                str(base.path),
                build_args=dict(base.build_args),
                what=str(base.path),
                on_line=say,
            ).id
    name = image_name("python") if isinstance(base, SlimBase) else base.name
    options = ContainerOptions(image=None if isinstance(base, SlimBase) else name)
    return backend.images.resolve(options, say).id


def _render(step: Step, folder: Path, name: str, backend: Backend, base: Base) -> list[str]:
    if isinstance(step, Copy):
        copy_into(folder, name, step.local)
        end = "/" if step.local.is_dir() else ""
        return [f'COPY ["{name}{end}", "{step.remote}{end}"]']
    if isinstance(step, Lines):
        for target, source in step.context:
            copy_into(folder, target, source)
        return list(step.text)
    import shlex

    pip = "python3 -m pip install --no-cache-dir --disable-pip-version-check"
    words = shlex.join(step.words)
    if not isinstance(base, SlimBase):
        return [f"RUN {pip} {shlex.join(step.options)} {words}"]
    say(f"fetching {words}")
    # A build has neither the index, nor the proxies, nor the certificates of this machine's pip.
    backend.images.download_wheels([*step.options, *step.words], folder / name, say)
    look = f"--no-index --find-links {_WHEELS}"
    return [
        f'COPY ["{name}/", "{_WHEELS}/"]',
        f"RUN {pip} --root-user-action ignore {look} {words} && rm -rf {_WHEELS}",
    ]


def _keep_workdir(backend: Backend, image: str, directory: str) -> ImageInfo:
    """Return the same image, with a copy of its working directory saved beside it."""
    with _build_errors(backend):
        return backend.images.save_workdir(image, directory, readable=[_WORKDIR], on_line=say)


def _run(backend: Backend, folder: Path, lines: list[str], *, is_fresh: bool = False) -> ImageInfo:
    # The name is no instruction's: what users copy may be called Dockerfile.
    name = ".llm-sandbox.Dockerfile"
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with _build_errors(backend):
        return backend.images.build(folder, name, use_cache=not is_fresh, on_line=say)


@contextlib.contextmanager
def _build_errors(backend: Backend) -> Iterator[None]:
    try:
        yield
    except BackendError as error:
        raise ImageBuildError(error.message, backend=backend.name, hint=error.hint) from error


def _inspect(backend: Backend, image: str) -> ImageInfo:
    found = backend.images.find(image)
    if found is None:
        raise NotFoundError(f"{backend.name} has no image {image}", backend=backend.name)
    return found
