"""Contract of an image store: the images that a container engine has, pulls and builds."""

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.recipes import Recipe

__all__ = ["BASE_LABEL", "RECIPE_LABEL", "BaseKind", "ImageInfo", "ImageStore"]

BaseKind = Literal["auto", "registry", "local"]
"""Base of the language images: Debian from a registry, Debian made on this machine, or whichever is
available."""

RECIPE_LABEL = "llm-sandbox.recipe"
"""Label with the digest of the recipe that an image was built from."""
BASE_LABEL = "llm-sandbox.base"
"""Label with the kind of an image's base: ``registry`` or ``local``."""


@dataclass(frozen=True)
class ImageInfo:
    """An image that the engine has."""

    id: str
    """The engine's id, which no tag can move."""
    name: str
    """The name that the caller used."""
    size: int = 0
    """Bytes, with all layers that it shares with other images."""
    built: bool = False
    """Whether the call that returned it has built it."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables."""
    workdir: str | None = None
    """Working directory; None without one."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels."""
    is_snapshot: bool = False
    """Whether its files include a saved working directory."""

    @property
    def base(self) -> str:
        """Kind of its base: ``registry``, ``local`` or ``unknown``."""
        return self.labels.get(BASE_LABEL, "unknown")

    def matches(self, recipe: Recipe) -> bool:
        """Return whether it was built from a recipe as it is now."""
        return self.labels.get(RECIPE_LABEL) == recipe.digest


class ImageStore(abc.ABC):
    """Images of one engine. Safe to use from several threads and processes.

    Every method raises BackendUnavailableError if the engine does not answer, and BackendError if
    it refuses; a failed build has the last 20 lines of its output in the message.
    """

    @abc.abstractmethod
    def find(self, name: str) -> ImageInfo | None:
        """Return an image by name or id; None if the engine does not have it."""

    @abc.abstractmethod
    def resolve(self, options: ContainerOptions, on_step: Callable[[str], None]) -> ImageInfo:
        """Return the image that container options name; one call of the engine if it is there.

        A missing image is pulled or built, or refused if the setting `missing_images`
        (``LLM_SANDBOX_MISSING_IMAGES``) says so. A Dockerfile is built in any case.

        Args:
            options: The options of a container.
            on_step: Called with each long step: at once, and then every 5 s at most.

        Raises:
            ImageNotFoundError: The engine does not have the image, and may not or cannot make it.
            ImagePullError: The image cannot be pulled.
            ValidationError: There is no such Dockerfile.
        """

    @abc.abstractmethod
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
        """Build an image, and tag it so that garbage collection leaves it alone.

        Args:
            folder: The build context.
            dockerfile: Path of the Dockerfile, relative to `folder` or absolute.
            build_args: Values of its ``ARG`` instructions.
            use_cache: Whether layers of earlier builds are reused.
            what: Description of the image for errors.
            on_line: Called with each step of the build.
        """

    @abc.abstractmethod
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
        """Build a language image, unless the engine has it from the same recipe.

        Args:
            recipe: The recipe.
            base: Kind of the base.
            smoke: Whether the image must pass its smoke test.
            force: Whether to build it even if it is up to date.
            on_step: Called with each step.
            on_detail: Called with the progress within a step.

        Raises:
            ImagePullError: `base` is ``registry``, and the registry does not answer.
            MissingDependencyError: A local base needs mmdebstrap, which is not installed.
        """

    @abc.abstractmethod
    def tag(self, image: str, name: str) -> None:
        """Add a name to an image.

        Args:
            image: Name or id.
            name: The new name, with a tag.
        """

    @abc.abstractmethod
    def save_workdir(
        self,
        image: str,
        workdir: str,
        *,
        readable: Sequence[str] = (),
        on_line: Callable[[str], None],
    ) -> ImageInfo:
        """Build an image whose containers begin with its files at their working directory.

        The working directory of a sandbox is a file system of its own, which its first process
        fills from what is saved in the image.

        Args:
            image: Name or id.
            workdir: The working directory whose files are saved.
            readable: Further folders that any user may then enter.
            on_line: Called with each step of the build.
        """

    @abc.abstractmethod
    def download_wheels(
        self, arguments: Sequence[str], target: Path, on_line: Callable[[str], None]
    ) -> None:
        """Download wheels for the Python of the Python image, with the pip of this machine.

        Its index, proxies and certificates are those of the user; a build has none of them.

        Args:
            arguments: Further arguments of ``pip download``: options and requirements.
            target: A folder, which is created.
            on_line: Called with each line that pip prints.
        """
