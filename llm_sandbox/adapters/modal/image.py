"""Images: what a sandbox begins with."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from llm_sandbox.adapters.modal.app import App, refuse_environment
from llm_sandbox.adapters.modal.calls import Function, Method
from llm_sandbox.adapters.modal.exception import InvalidError, NotFoundError, UnimplementedError
from llm_sandbox.adapters.modal.image_parts import (
    Base,
    DockerfileBase,
    Lines,
    NamedBase,
    SlimBase,
    SnapshotBase,
)
from llm_sandbox.adapters.modal.image_steps import ImageSteps
from llm_sandbox.adapters.modal.secret import Secret
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.backends.snapshot import Snapshot

__all__ = ["Image"]

_ID = re.compile(r"im-([0-9a-f]{64})", re.ASCII)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}(:[A-Za-z0-9._-]{1,64})?", re.ASCII)


class Image(ImageSteps):
    """A base and steps on top of it; each method returns another image. Nothing happens before a
    sandbox is created with it, or `build` is called: then the container engine builds what it has
    not built before.

    Made by `debian_slim`, `from_registry`, `from_dockerfile`, `from_name` or `from_id`, or by
    `Sandbox.snapshot_filesystem`.
    """

    def __repr__(self) -> str:
        return f"Image({self._object_id or self._base})"

    @property
    def object_id(self) -> str | None:
        """Its id, for `from_id`; None before it was built."""
        return self._object_id

    # --- where images come from

    @staticmethod
    def debian_slim(python_version: str | None = None, force_build: bool = False) -> "Image":
        """Return Debian with Python: this library's own image of Python, which has numpy, pandas
        and matplotlib besides; where sandboxes have no images, this machine's Python.

        Args:
            python_version: Which Python; None for the one that is there. Another one is refused
                when the sandbox is created.
            force_build: Whether steps are built again.
        """
        return _made(SlimBase(python_version))._then(Lines((), is_fresh=force_build))

    @staticmethod
    def from_registry(
        tag: str,
        secret: Secret | None = None,
        *,
        setup_dockerfile_commands: Sequence[str] = (),
        force_build: bool = False,
        add_python: str | None = None,
    ) -> "Image":
        """Return an image of the engine, or of a registry that it can reach.

        Args:
            tag: Its name.
            secret: None; the engine logs in to registries.
            setup_dockerfile_commands: Lines of a Dockerfile that come first.
            force_build: Whether steps are built again.
            add_python: None; programs in it bring their own interpreter.

        Raises:
            UnimplementedError: `secret` or `add_python` is given.
        """
        if secret is not None:
            raise UnimplementedError(
                "from_registry(secret=)",
                None,
                "the engine logs in to registries, and keeps what that takes",
                hint="docker login REGISTRY",
            )
        _refuse_python(add_python)
        image = _made(NamedBase(tag))
        if setup_dockerfile_commands or force_build:
            image = image._then(Lines(tuple(setup_dockerfile_commands), is_fresh=force_build))
        return image

    @staticmethod
    def from_dockerfile(
        path: str | os.PathLike[str],
        *,
        context_dir: str | os.PathLike[str] | None = None,
        force_build: bool = False,
        build_args: Mapping[str, str] | None = None,
        add_python: str | None = None,
    ) -> "Image":
        """Return the image that a Dockerfile describes.

        Args:
            path: The Dockerfile.
            context_dir: The folder that it copies from; None for the working directory.
            force_build: Whether steps on top are built again.
            build_args: Values of its ``ARG`` lines.
            add_python: None; programs in it bring their own interpreter.

        Raises:
            InvalidError: There is no such file or folder.
            UnimplementedError: `add_python` is given.
        """
        _refuse_python(add_python)
        file = Path(path).expanduser().absolute()
        context = Path.cwd() if context_dir is None else Path(context_dir).absolute()
        if not file.is_file():
            raise InvalidError(f"there is no Dockerfile at {str(path)!r}", parameter="path")
        if not context.is_dir():
            raise InvalidError(f"there is no folder {context}", parameter="context_dir")
        image = _made(DockerfileBase(file, context, tuple((build_args or {}).items())))
        return image._then(Lines((), is_fresh=True)) if force_build else image

    @Function
    @staticmethod
    def from_id(image_id: str, client: object = None) -> "Image":
        """Return an image by its `object_id`, in the same engine or of this user's snapshots.

        Raises:
            InvalidError: It is no id.
            NotFoundError: There is no such snapshot, or not any more.
        """
        refuse_environment(client, None)
        if not str(image_id).startswith("im-"):
            raise InvalidError(f"{image_id!r:.80} is no id of an image", parameter="image_id")
        match = _ID.fullmatch(image_id)
        if match is not None:
            image = _made(NamedBase(f"sha256:{match[1]}"))
            image._object_id = image_id
            return image
        with translated():
            for snapshot in Snapshot.list():
                if image_id == _id_of(snapshot):
                    return Image._from_snapshot(snapshot, None)
        raise NotFoundError(f"there is no image {image_id!r:.80}")

    @staticmethod
    def from_name(
        name: str, *, environment_name: str | None = None, client: object = None
    ) -> "Image":
        """Return an image that `publish` gave a name.

        Raises:
            InvalidError: The name cannot be one.
        """
        refuse_environment(client, environment_name)
        return _made(NamedBase(_published(name)))

    @staticmethod
    def _from_snapshot(snapshot: Snapshot, workdir: str | None) -> "Image":
        image = _made(SnapshotBase(snapshot))
        image._object_id = _id_of(snapshot)
        image._workdir = workdir
        return image

    # --- building

    @Method
    def build(self, app: App | None = None) -> "Image":
        """Build it now, and return it.

        Raises:
            ImageBuildError: A step failed; the message has the last lines.
            UnimplementedError: There is no container engine.
        """
        from llm_sandbox.adapters.modal.image_build import build

        del app
        build(self)
        return self

    @Method
    def publish(self, name: str) -> None:
        """Build it and give it a name, for `from_name`; one that had the name loses it."""
        from llm_sandbox.adapters.modal.image_build import build, give_name

        give_name(build(self), _published(name))


def _made(base: Base) -> Image:
    image = Image()
    image._base = base
    return image


def _id_of(snapshot: Snapshot) -> str:
    return f"im-{snapshot.ref.removeprefix('sha256:')}"


def _published(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidError(
            f"an image's name is small letters, digits, '.', '_' or '-', with a tag after ':' "
            f"perhaps, unlike {name!r:.80}",
            parameter="name",
        )
    return f"llm-sandbox/named/{name}" if ":" in name else f"llm-sandbox/named/{name}:latest"


def _refuse_python(add_python: str | None) -> None:
    if add_python is not None:
        raise UnimplementedError(
            "add_python=",
            None,
            "Python is not put into other images",
            hint="take an image that has it, or install it: .apt_install('python3')",
        )
