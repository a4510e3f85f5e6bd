"""Having the container engine build images, and what a sandbox is then made of."""

import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from llm_sandbox.adapters.modal.configuration import configuration, say
from llm_sandbox.adapters.modal.exception import (
    ImageBuildError,
    InvalidError,
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
    Packages,
    SlimBase,
    SnapshotBase,
    Step,
    copy_into,
)
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.backends.base import Backend, validate_workdir
from llm_sandbox.backends.containers.backend import ContainerBackend
from llm_sandbox.backends.containers.commit import SAVED_WORKDIR, SNAPSHOT
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.labels import MARK
from llm_sandbox.backends.containers.images.child import run_child
from llm_sandbox.backends.containers.images.find import Images
from llm_sandbox.backends.containers.images.stream import follow_build
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.recipes import get_recipe, image_name
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.selection import choose
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import BackendError, SandboxError
from llm_sandbox.guest.constants import USER_ID
from llm_sandbox.settings import get_settings

__all__ = ["Ground", "build", "give_name", "prepare"]

_WORKDIR = "/root"
"""Where programs begin that say nothing else, as in Modal's own images."""
_OWN_WORKDIR = "/sandbox"
_REPOSITORY = "llm-sandbox/template"
"""What is to stay has this name: ``llm-sandbox gc`` leaves it alone."""
_ENGINES = ("docker", "podman")
_WHEELS = "/tmp/llm-sandbox-wheels"  # noqa: S108 - inside an image


@dataclass(frozen=True)
class Ground:
    """What a sandbox is made of."""

    backend: str
    """Name of the backend."""
    image: str | Snapshot | None
    """For `Sandbox.create(image=)`."""
    workdir: str
    """Its working directory."""
    env: dict[str, str] = field(default_factory=dict)
    """Variables that the image would have where there are no images."""
    files: tuple[Copy, ...] = ()
    """Files of this machine that no image can hold for it: they are shown to it, read-only."""


def prepare(image: Image, workdir: str | None, copies: Iterable[Copy]) -> Ground:
    """Build what a sandbox needs, and say what it is made of.

    Args:
        image: Its image.
        workdir: Its working directory; None for the image's.
        copies: Files of this machine that it begins with.

    Raises:
        ImageBuildError: A step failed.
        InvalidError: The working directory cannot be one.
        UnimplementedError: The backend has no images, or not such ones.
    """
    given = tuple(copies)
    steps = (*image._steps, *given)
    backend = _backend(image, steps)
    if isinstance(image._base, SnapshotBase) and not steps:
        place = _checked_workdir(workdir or image._workdir or _usual_workdir(backend))
        return Ground(backend.name, image._base.snapshot, place, dict(image._env))
    if not isinstance(backend, ContainerBackend):
        return _without_images(backend, image, steps, workdir)
    engine = backend.engine
    # What an image has in /tmp is for its later steps: a sandbox's is a file system of its own.
    lasting = tuple(copy for copy in given if not _is_tmp(copy.remote))
    with translated():
        found, is_built = _build(engine, image._base, (*image._steps, *lasting))
    config = found.get("Config") or {}
    own = config.get("WorkingDir") or ""
    asked = workdir or image._workdir or ("" if own in ("/", _OWN_WORKDIR) else own)
    place = _checked_workdir(asked or _WORKDIR)
    is_saved = SNAPSHOT in (config.get("Labels") or {})
    is_below_root = place.startswith(f"{_WORKDIR}/")
    if (is_built or own == place or is_below_root) and not is_saved:
        with translated():
            found = _keep_workdir(engine, found["Id"], place)
        is_built = True
    in_memory = tuple(step for step in steps if isinstance(step, Copy) and _is_tmp(step.remote))
    image._object_id = f"im-{found['Id'].removeprefix('sha256:')}"
    plain = isinstance(image._base, SlimBase) and not is_built
    return Ground(backend.name, None if plain else found["Id"], place, files=in_memory)


def build(image: Image) -> tuple[Engine, str]:
    """Build an image; returns the engine, and the image's id there.

    Raises:
        ImageBuildError: A step failed.
        UnimplementedError: There is no container engine.
    """
    backend = _backend(image, image._steps, needs_engine=True)
    assert isinstance(backend, ContainerBackend)  # noqa: S101 - by `needs_engine`
    with translated():
        found, _ = _build(backend.engine, image._base, image._steps)
    image._object_id = f"im-{found['Id'].removeprefix('sha256:')}"
    return backend.engine, found["Id"]


def give_name(built: tuple[Engine, str], name: str) -> None:
    """Give an image that `build` returned a name."""
    engine, found = built
    repository, _, tag = name.rpartition(":")
    with translated(), engine.errors("tag", name):
        engine.api.tag(found, repository, tag)


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
    if needs_engine and not isinstance(backend, ContainerBackend):
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
    if isinstance(backend, ContainerBackend):
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
    """Whether a step needs no image: variables, a working directory, files of this machine."""
    if isinstance(step, Lines):
        return not step.context and all(line.startswith(("ENV ", "WORKDIR ")) for line in step.text)
    return isinstance(step, Copy)


def _without_images(
    backend: Backend, image: Image, steps: tuple[Step, ...], workdir: str | None
) -> Ground:
    place = _checked_workdir(workdir or image._workdir or _usual_workdir(backend))
    copies = tuple(step for step in steps if isinstance(step, Copy))
    source = image._base.snapshot if isinstance(image._base, SnapshotBase) else None
    return Ground(backend.name, source, place, dict(image._env), copies)


def _usual_workdir(backend: Backend) -> str:
    """Where programs begin if nobody says: where they have this machine's files, not in its
    administrator's home.
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


def _build(engine: Engine, base: Base, steps: tuple[Step, ...]) -> tuple[dict[str, Any], bool]:
    """Return what the engine says of the image, and whether it was built of something."""
    ground = _ground(engine, base)
    steps = tuple(step for step in steps if not isinstance(step, Lines) or step.text)
    if not steps:
        return _inspect(engine, ground), isinstance(base, DockerfileBase)
    is_fresh = any(not isinstance(step, Copy) and step.is_fresh for step in steps)
    with tempfile.TemporaryDirectory(prefix="llm-sandbox-modal-") as folder:
        lines = [f"FROM {ground}", "USER 0"]
        for number, step in enumerate(steps):
            lines += _render(step, Path(folder), f"s{number}", engine, base)
        return _run(engine, Path(folder), lines, is_fresh=is_fresh), True


def _ground(engine: Engine, base: Base) -> str:
    if isinstance(base, SnapshotBase):
        return base.snapshot.ref
    if isinstance(base, DockerfileBase):
        arguments = {
            "path": str(base.context),
            "dockerfile": str(base.path),
            "buildargs": dict(base.build_args),
            "labels": {MARK: VERSION},
        }
        return _named(engine, _follow(engine, str(base.path), arguments))
    name = image_name("python") if isinstance(base, SlimBase) else base.name
    options = ContainerOptions(image=None if isinstance(base, SlimBase) else name)
    return Images(engine).resolve(options, say).id


def _render(step: Step, folder: Path, name: str, engine: Engine, base: Base) -> list[str]:
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
    _fetch(step, folder / name, engine)
    look = f"--no-index --find-links {_WHEELS}"
    return [
        f'COPY ["{name}/", "{_WHEELS}/"]',
        f"RUN {pip} --root-user-action ignore {look} {words} && rm -rf {_WHEELS}",
    ]


def _fetch(step: Packages, target: Path, engine: Engine) -> None:
    """Have this machine's pip fetch wheels for the Python of our own image: a build has neither its
    index, nor its proxies, nor its certificates.
    """
    facts = get_recipe("python").facts["wheels"]
    python, glibc = str(facts["python"]), int(str(facts["glibc"]).partition(".")[2])
    target.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--progress-bar=off"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", str(target)]
    command += ["--python-version", python, "--implementation", "cp"]
    for abi in (f"cp{python.replace('.', '')}", "abi3", "none"):
        command += ["--abi", abi]
    for minor in (*range(glibc, 16, -1), None):
        kind = "manylinux2014" if minor is None else f"manylinux_2_{minor}"
        command += ["--platform", f"{kind}_{engine.architecture}"]
    say(f"fetching {' '.join(step.words)}")
    run_child(
        [*command, *step.options, *step.words],
        what="fetching packages",
        hint="pip needs an index: see `pip config list`, PIP_INDEX_URL, PIP_CERT",
        on_line=say,
    )


def _keep_workdir(engine: Engine, image: str, place: str) -> dict[str, Any]:
    """Return the same image, with what is at the working directory kept aside as well.

    A sandbox's working directory is a file system of its own. Its first process fills it with what
    an image has at this place.
    """
    import json

    # Programs are not root, and pass through what only root may otherwise.
    parents = " ".join(f"'{above}'" for above in (_WORKDIR, *PurePosixPath(place).parents))
    command = (
        f"mkdir -p {SAVED_WORKDIR} && "
        f"if [ -d '{place}' ]; then cp -a '{place}/.' {SAVED_WORKDIR}/; fi && "
        f"chown -R {USER_ID}:{USER_ID} {SAVED_WORKDIR} && chmod 755 {SAVED_WORKDIR} && "
        f"mkdir -p '{place}' && chmod a+rx {parents}"
    )
    if "'" in place:
        raise InvalidError(f"the working directory {place!r} has a quote", parameter="workdir")
    with tempfile.TemporaryDirectory(prefix="llm-sandbox-modal-") as folder:
        lines = [f"FROM {image}", "USER 0", f"RUN {json.dumps(['/bin/sh', '-c', command])}"]
        lines.append(f'LABEL {SNAPSHOT}="workdir"')
        return _run(engine, Path(folder), lines)


def _run(
    engine: Engine, folder: Path, lines: list[str], *, is_fresh: bool = False
) -> dict[str, Any]:
    # The name is no instruction's: what users copy may be called Dockerfile.
    name = ".llm-sandbox.Dockerfile"
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = {
        "path": str(folder),
        "dockerfile": name,
        "nocache": is_fresh,
        "labels": {MARK: VERSION},
    }
    return _inspect(engine, _named(engine, _follow(engine, "an image", arguments)))


def _follow(engine: Engine, what: str, arguments: dict[str, Any]) -> str:
    try:
        return follow_build(engine, what, arguments, say)
    except BackendError as error:
        raise ImageBuildError(error.message, backend=engine.name, hint=error.hint) from error


def _named(engine: Engine, image: str) -> str:
    """Give an image a name, without which it would count as rubbish; returns its id."""
    found = _inspect(engine, image)
    identity: str = found["Id"]
    with engine.errors("tag", identity):
        engine.api.tag(identity, _REPOSITORY, identity.removeprefix("sha256:")[:16])
    return identity


def _inspect(engine: Engine, image: str) -> dict[str, Any]:

    found = engine.find_image(image)
    if found is None:
        raise NotFoundError(f"{engine.name} has no image {image}", backend=engine.name)
    return found
