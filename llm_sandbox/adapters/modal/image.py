"""Images that sandboxes are created from: a base, and build steps on top of it."""

import os
import posixpath
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Self

from llm_sandbox.adapters.modal.app import App, refuse_environment
from llm_sandbox.adapters.modal.calls import Function, Method
from llm_sandbox.adapters.modal.checks import check_env, check_path
from llm_sandbox.adapters.modal.exception import InvalidError, NotFoundError, UnimplementedError
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
    env_line,
    run_line,
)
from llm_sandbox.adapters.modal.secret import Secret
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.backends.snapshot import Snapshot

__all__ = ["Image"]

_Words = str | Sequence[str]

_ID = re.compile(r"im-([0-9a-f]{64})", re.ASCII)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}(:[A-Za-z0-9._-]{1,64})?", re.ASCII)


class Image:
    """Base and build steps on top of it; each method returns a new image. Nothing is built before a
    sandbox is created with the image or `build` is called; the container engine reuses what it has
    built before.

    Created by `debian_slim`, `from_registry`, `from_dockerfile`, `from_name` or `from_id`, or by
    `Sandbox.snapshot_filesystem`.
    """

    def __init__(self) -> None:
        self._base: Base = SlimBase()
        self._steps: tuple[Step, ...] = ()
        self._env: dict[str, str] = {}
        self._workdir: str | None = None
        self._cmd: tuple[str, ...] = ()
        self._object_id: str | None = None

    def __repr__(self) -> str:
        return f"Image({self._object_id or self._base})"

    @property
    def object_id(self) -> str | None:
        """Id of the image, for `from_id`; None before it was built."""
        return self._object_id

    # --- where images come from

    @staticmethod
    def debian_slim(python_version: str | None = None, force_build: bool = False) -> "Image":
        """Return Debian with Python: this library's own image of Python, which includes numpy,
        pandas and matplotlib; on backends without images, this machine's Python.

        Args:
            python_version: Version of Python; None for the version of the image. Any other is
                refused when the sandbox is created.
            force_build: Whether steps are built without the cache.
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
        """Return an image of the engine, or of a registry that the engine can reach.

        Args:
            tag: Name of the image.
            secret: None; the engine logs in to registries.
            setup_dockerfile_commands: Lines of a Dockerfile that come first.
            force_build: Whether steps are built without the cache.
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
        """Return an image built from a Dockerfile.

        Args:
            path: The Dockerfile.
            context_dir: Build context; None for the working directory.
            force_build: Whether steps on top are built without the cache.
            build_args: Values of its ``ARG`` lines.
            add_python: None; programs in it bring their own interpreter.

        Raises:
            InvalidError: The file or folder does not exist.
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
            InvalidError: The value is not an image id.
            NotFoundError: The snapshot does not exist, or no longer exists.
        """
        refuse_environment(client, None)
        if not str(image_id).startswith("im-"):
            raise InvalidError(f"{image_id!r:.80} is not an image id", parameter="image_id")
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
        """Return an image by the name that `publish` gave it.

        Raises:
            InvalidError: The name is invalid.
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
        """Build the image now, and return it.

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
        """Build the image and give it a name for `from_name`; another image loses it."""
        from llm_sandbox.adapters.modal.image_build import build, give_name

        give_name(build(self), _published(name))

    # --- steps

    def pip_install(
        self,
        *packages: _Words,
        find_links: str | None = None,
        index_url: str | None = None,
        extra_index_url: str | None = None,
        pre: bool = False,
        extra_options: str = "",
        force_build: bool = False,
        env: Mapping[str, str | None] | None = None,
        secrets: Collection[Secret] | None = None,
        gpu: str | None = None,
    ) -> Self:
        """Add Python packages.

        On `debian_slim` this machine's pip downloads the wheels, with its settings; on other bases
        the pip of the image does, over the engine's network.

        Args:
            packages: Requirements as for pip, such as ``requests==2.32``.
            find_links: Value of pip's ``--find-links``.
            index_url: Package index in place of the default one.
            extra_index_url: Additional package index.
            pre: Whether pre-releases are accepted.
            extra_options: Further options of pip.
            force_build: Whether the step is built without the cache.
            env: None or empty: pip has this machine's variables.
            secrets: None or empty: they would stay in the image.
            gpu: None: a build has no GPU.

        Raises:
            UnimplementedError: `secrets` or `gpu` is given.
            InvalidError: No package is given.
        """
        words = _flat(packages)
        if not words:
            return self
        if check_env(env, "env"):
            raise InvalidError("pip_install(env=) is not honoured", hint="use run_commands(env=)")
        _refuse_of_build(secrets, gpu)
        options: list[str] = []
        for name, value in (
            ("--find-links", find_links),
            ("--index-url", index_url),
            ("--extra-index-url", extra_index_url),
        ):
            options += [name, value] if value else []
        options += ["--pre"] if pre else []
        return self._then(Packages(words, (*options, *extra_options.split()), force_build))

    def uv_pip_install(
        self,
        *packages: _Words,
        requirements: Sequence[str] | None = None,
        find_links: str | None = None,
        index_url: str | None = None,
        extra_index_url: str | None = None,
        pre: bool = False,
        extra_options: str = "",
        force_build: bool = False,
    ) -> Self:
        """Add Python packages with pip, like `pip_install`; `requirements` are files."""
        image = self
        for file in requirements or ():
            image = image.pip_install_from_requirements(file)
        return image.pip_install(
            *packages,
            find_links=find_links,
            index_url=index_url,
            extra_index_url=extra_index_url,
            pre=pre,
            extra_options=extra_options,
            force_build=force_build,
        )

    def pip_install_from_requirements(
        self, requirements_txt: str | os.PathLike[str], find_links: str | None = None
    ) -> Self:
        """Add the packages of a requirements file on this machine.

        Raises:
            FileNotFoundError: The file does not exist.
            InvalidError: A line is a pip option.
        """
        lines = Path(requirements_txt).read_text(encoding="utf-8").splitlines()
        words = [kept for line in lines if (kept := line.partition(" #")[0].strip())]
        words = [word for word in words if not word.startswith("#")]
        if any(word.startswith("-") for word in words):
            raise InvalidError(f"{requirements_txt} has options: give them to pip_install")
        return self.pip_install(*words, find_links=find_links)

    def pip_install_from_pyproject(
        self, pyproject_toml: str | os.PathLike[str], optional_dependencies: Sequence[str] = ()
    ) -> Self:
        """Add the dependencies of a ``pyproject.toml``.

        Raises:
            InvalidError: The dependency group does not exist.
        """
        project = tomllib.loads(Path(pyproject_toml).read_text(encoding="utf-8")).get("project", {})
        words = list(project.get("dependencies", ()))
        groups = project.get("optional-dependencies", {})
        for group in optional_dependencies:
            if group not in groups:
                raise InvalidError(f"{pyproject_toml} has no group {group!r} of dependencies")
            words += groups[group]
        return self.pip_install(*words)

    def apt_install(
        self,
        *packages: _Words,
        force_build: bool = False,
        env: Mapping[str, str | None] | None = None,
        secrets: Collection[Secret] | None = None,
        gpu: str | None = None,
    ) -> Self:
        """Add Debian packages, downloaded over the engine's network.

        Args:
            packages: Names of the packages.
            force_build: Whether the step is built without the cache.
            env: Environment variables of this step.
            secrets: None or empty: they would stay in the image.
            gpu: None: a build has no GPU.

        Raises:
            UnimplementedError: `secrets` or `gpu` is given.
        """
        words = _flat(packages)
        if not words:
            return self
        install = "apt-get install --yes --no-install-recommends"
        command = f"apt-get update && {install} {' '.join(words)} && rm -rf /var/lib/apt/lists/*"
        quiet = {"DEBIAN_FRONTEND": "noninteractive", **(env or {})}
        return self.run_commands(
            command, env=quiet, secrets=secrets, gpu=gpu, force_build=force_build
        )

    def run_commands(
        self,
        *commands: _Words,
        env: Mapping[str, str | None] | None = None,
        secrets: Collection[Secret] | None = None,
        gpu: str | None = None,
        force_build: bool = False,
    ) -> Self:
        """Run commands in a shell, as root.

        Args:
            commands: Commands, one step each.
            env: Environment variables of these steps only.
            secrets: None or empty: they would stay in the image.
            gpu: None: a build has no GPU.
            force_build: Whether the step is built without the cache.

        Raises:
            UnimplementedError: `secrets` or `gpu` is given.
        """
        _refuse_of_build(secrets, gpu)
        variables = check_env(env, "env")
        lines = tuple(run_line(command, variables) for command in _flat(commands))
        return self._then(Lines(lines, is_fresh=force_build)) if lines else self

    def dockerfile_commands(
        self,
        *dockerfile_commands: _Words,
        context_files: Mapping[str, str] | None = None,
        secrets: Collection[Secret] | None = None,
        gpu: str | None = None,
        context_dir: str | os.PathLike[str] | None = None,
        force_build: bool = False,
    ) -> Self:
        """Add lines of a Dockerfile.

        Args:
            dockerfile_commands: The lines.
            context_files: Files of this machine for ``COPY``, by name in the build context.
            secrets: None or empty: they would stay in the image.
            gpu: None: a build has no GPU.
            context_dir: Folder of this machine used as build context.
            force_build: Whether the step is built without the cache.

        Raises:
            UnimplementedError: `secrets` or `gpu` is given.
        """
        _refuse_of_build(secrets, gpu)
        context = [(name, Path(local).absolute()) for name, local in (context_files or {}).items()]
        if context_dir is not None:
            context += [(path.name, path) for path in Path(context_dir).absolute().iterdir()]
        return self._then(Lines(_flat(dockerfile_commands), tuple(context), force_build))

    def env(self, vars: Mapping[str, str]) -> Self:
        """Set environment variables for later steps and for sandboxes.

        Raises:
            InvalidError: A name is invalid, or a value has a line break.
        """
        checked = check_env(vars, "vars")
        image = self._then(Lines(tuple(env_line(*item) for item in checked.items())))
        image._env = {**self._env, **checked}
        return image

    def workdir(self, path: str | PurePosixPath) -> Self:
        """Set the working directory of later steps and of sandboxes."""
        target = str(path)
        if not target.startswith("/"):
            target = posixpath.join(self._workdir or "/root", target)
        image = self._then(Lines((f"WORKDIR {target}",)))
        image._workdir = posixpath.normpath(target)
        return image

    def add_local_file(
        self, local_path: str | os.PathLike[str], remote_path: str, *, copy: bool = False
    ) -> Self:
        """Add a file of this machine.

        Args:
            local_path: The file.
            remote_path: Its path in the image, absolute; one that ends with ``/`` is a folder.
            copy: No effect: the file is always part of the image, so that later steps see it.

        Raises:
            FileNotFoundError: The file does not exist.
        """
        del copy
        path = Path(local_path).absolute()
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        target = f"{remote_path}{path.name}" if remote_path.endswith("/") else remote_path
        return self._then(Copy(path, check_path(target)))

    def add_local_dir(
        self, local_path: str | os.PathLike[str], remote_path: str, *, copy: bool = False
    ) -> Self:
        """Add the contents of a folder of this machine; see `add_local_file`.

        Raises:
            NotADirectoryError: The folder does not exist.
        """
        del copy
        path = Path(local_path).absolute()
        if not path.is_dir():
            raise NotADirectoryError(f"there is no folder {path}")
        return self._then(Copy(path, check_path(remote_path)))

    def entrypoint(self, entrypoint_commands: Sequence[str]) -> Self:
        """Return the image without an entrypoint of its own: sandboxes never start one.

        Raises:
            UnimplementedError: The entrypoint is not empty.
        """
        if entrypoint_commands:
            raise UnimplementedError(
                "Image.entrypoint()",
                None,
                "a sandbox's first process is the one that guards it",
                hint="give the words to Sandbox.create(...)",
            )
        return self

    def cmd(self, cmd: Sequence[str]) -> Self:
        """Set the default command of sandboxes."""
        image = self._then(Lines(()))
        image._cmd = tuple(cmd)
        return image

    def _then(self, step: Step) -> Self:
        image = type(self)()
        image.__dict__.update(self.__dict__)
        image._object_id = None
        if not isinstance(step, Lines) or step.text or step.is_fresh:
            image._steps = (*self._steps, step)
        return image


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


def _flat(words: Sequence[_Words]) -> tuple[str, ...]:
    flat: list[Any] = []
    for word in words:
        flat += [word] if isinstance(word, str) else list(word)
    for word in flat:
        if not isinstance(word, str):
            raise InvalidError(f"a package or command is text, not {word!r:.80}")
    return tuple(flat)


def _refuse_of_build(secrets: Collection[Secret] | None, gpu: str | None) -> None:
    if secrets:
        raise UnimplementedError(
            "secrets= of an image's step",
            None,
            "the engine's builder keeps a step's variables in the image, for everybody to see",
            hint="give them to the sandbox: Sandbox.create(secrets=[...])",
        )
    if gpu is not None:
        raise UnimplementedError("gpu= of an image's step", None, "builds have no GPU")
