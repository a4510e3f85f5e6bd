"""The steps of an image: each method returns another image, with one more."""

import os
import posixpath
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Self

from llm_sandbox.adapters.modal.checks import check_env, check_path
from llm_sandbox.adapters.modal.exception import InvalidError, UnimplementedError
from llm_sandbox.adapters.modal.image_parts import (
    Base,
    Copy,
    Lines,
    Packages,
    SlimBase,
    Step,
    env_line,
    run_line,
)
from llm_sandbox.adapters.modal.secret import Secret

__all__ = ["ImageSteps"]

_Words = str | Sequence[str]


class ImageSteps:
    """The part of `Image` that adds steps to it."""

    def __init__(self) -> None:
        self._base: Base = SlimBase()
        self._steps: tuple[Step, ...] = ()
        self._env: dict[str, str] = {}
        self._workdir: str | None = None
        self._cmd: tuple[str, ...] = ()
        self._object_id: str | None = None

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

        On `debian_slim` their wheels are fetched by this machine's pip, with its settings; on other
        bases the pip inside fetches them, with the engine's network.

        Args:
            packages: As pip has them, such as ``requests==2.32``.
            find_links: Where pip looks besides.
            index_url: Which index it asks instead of its usual one.
            extra_index_url: Which one it asks besides.
            pre: Whether versions before a release will do.
            extra_options: More of pip's options.
            force_build: Whether it is done again.
            env: None or empty: pip has this machine's variables.
            secrets: None or empty: they would stay in the image.
            gpu: None: a build has none.

        Raises:
            UnimplementedError: `secrets` or `gpu` is given.
            InvalidError: There is no package.
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
        """As `pip_install`, by pip as well; `requirements` are files of them."""
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
        """Add the packages that a file of this machine lists, one a line.

        Raises:
            FileNotFoundError: There is none.
            InvalidError: A line is an option of pip's.
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
            InvalidError: It has no such group.
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
        """Add Debian packages, which the engine fetches with its network.

        Args:
            packages: Their names.
            force_build: Whether it is done again.
            env: Variables of this step.
            secrets: None or empty: they would stay in the image.
            gpu: None: a build has none.

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
            commands: Each one a step.
            env: Variables of these steps, which the image does not keep.
            secrets: None or empty: they would stay in the image.
            gpu: None: a build has none.
            force_build: Whether it is done again.

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
            context_files: Files of this machine that they copy, by name in the context.
            secrets: None or empty: they would stay in the image.
            gpu: None: a build has none.
            context_dir: A folder of this machine that they copy from.
            force_build: Whether it is done again.

        Raises:
            UnimplementedError: `secrets` or `gpu` is given.
        """
        _refuse_of_build(secrets, gpu)
        context = [(name, Path(local).absolute()) for name, local in (context_files or {}).items()]
        if context_dir is not None:
            context += [(path.name, path) for path in Path(context_dir).absolute().iterdir()]
        return self._then(Lines(_flat(dockerfile_commands), tuple(context), force_build))

    def env(self, vars: Mapping[str, str]) -> Self:
        """Set variables for later steps and for sandboxes.

        Raises:
            InvalidError: A name cannot be one, or a value has a line break.
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
            copy: Either way the file is part of the image, so that later steps have it.

        Raises:
            FileNotFoundError: There is none.
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
        """Add what is in a folder of this machine; see `add_local_file`.

        Raises:
            NotADirectoryError: There is none.
        """
        del copy
        path = Path(local_path).absolute()
        if not path.is_dir():
            raise NotADirectoryError(f"there is no folder {path}")
        return self._then(Copy(path, check_path(remote_path)))

    def entrypoint(self, entrypoint_commands: Sequence[str]) -> Self:
        """Return the image without an entrypoint of its own: sandboxes never start one.

        Raises:
            UnimplementedError: There are words in it.
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
        """Set what a sandbox runs that is created without words of its own."""
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
