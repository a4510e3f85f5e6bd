"""Builder of the language images."""

import contextlib
import tarfile
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.labels import MARK, new_labels
from llm_sandbox.backends.containers.images.debian_root import make_debian_root, write_layer
from llm_sandbox.backends.containers.images.host_programs import download_wheels
from llm_sandbox.backends.containers.images.smoke import run_smoke_test
from llm_sandbox.backends.containers.images.stream import follow_build, pull, why_no_registry
from llm_sandbox.backends.containers.snapshots import SNAPSHOT
from llm_sandbox.backends.images import BASE_LABEL, RECIPE_LABEL, BaseKind, ImageInfo
from llm_sandbox.backends.recipes import BASE, Recipe, get_recipe
from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import BackendError

__all__ = ["ImageBuilder", "describe_image"]

_BUILD = "llm-sandbox.build"


class ImageBuilder:
    """Builds images in one engine; only finished and tested images get a name.

    Args:
        engine: The engine.
        on_step: Called with each step, such as ``fetching the packages``.
        on_detail: Called with the progress within a step.
        base: Kind of the base.
        smoke: Whether an image must pass its smoke test.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        on_step: Callable[[str], None],
        on_detail: Callable[[str], None] = lambda _: None,
        base: BaseKind = "auto",
        smoke: bool = True,
    ) -> None:
        self._engine = engine
        self._on_step = on_step
        self._on_detail = on_detail
        self._base = base
        self._smoke = smoke
        self._found: Literal["registry", "local"] | None = None

    def build(self, recipe: Recipe, *, force: bool = False) -> ImageInfo:
        """Build an image, unless the engine has it from the same recipe.

        Args:
            recipe: The recipe.
            force: Whether to build it in any case.

        Raises:
            BackendUnavailableError: The engine does not answer.
            BackendError: A step failed; the message has its last 20 lines.
            ImagePullError: `base` is ``registry``, and the registry does not answer.
            MissingDependencyError: A local base is needed, and this machine has no mmdebstrap.
        """
        before = self._engine.find_image(recipe.image)
        if before is not None and not force and self._is_current(before, recipe):
            return describe_image(recipe.image, before, built=False)
        with self._workspace() as (folder, build):
            kind = self._choose_base()
            if kind == "local":
                image = self._on_local_root(recipe, folder, build)
            else:
                image = self._on_registry_base(recipe, folder, build, force=force)
            return self._finish(recipe, image, before)

    def _is_current(self, found: dict[str, Any], recipe: Recipe) -> bool:
        image = describe_image(recipe.image, found)
        return image.matches(recipe) and self._base in ("auto", image.base)

    def _choose_base(self) -> Literal["registry", "local"]:
        if self._base != "auto":
            return self._base
        if self._found is None:
            name = get_recipe(BASE).facts["registry"]
            self._on_step(f"asking the registry for {name}")
            reason = why_no_registry(self._engine, name)
            if reason is not None:
                self._on_step(f"no registry can be reached: {reason}")
            self._found = "registry" if reason is None else "local"
        return self._found

    def _on_local_root(self, recipe: Recipe, folder: Path, build: str) -> str:
        if recipe.name != BASE:
            parent = self._base_image("local").id
            image = self._add_packages(recipe, parent, folder, build)
            return self._run(recipe, image, folder, build, kind="local", network=False)
        archive = folder / "root.tar"
        self._make_root(recipe, archive)
        self._on_step("importing the Debian root")
        root = self._import(archive, f"llm-sandbox/root:{build}")
        try:
            return self._run(recipe, root["Id"], folder, build, kind="local", network=False)
        finally:
            # The finished image keeps the layer; after a failure, nothing does.
            self._remove(root["RepoTags"][0])

    def _base_image(self, kind: Literal["registry", "local"]) -> ImageInfo:
        builder = ImageBuilder(
            self._engine, on_step=self._on_step, on_detail=self._on_detail, base=kind, smoke=False
        )
        return builder.build(get_recipe(BASE))

    def _make_root(self, recipe: Recipe, archive: Path, ground: Path | None = None) -> None:
        words = "making a Debian root" if ground is None else "adding Debian packages"
        self._on_step(f"{words} on this machine")
        make_debian_root(
            archive,
            get_recipe(BASE).facts["suite"],
            recipe.debian_packages,
            self._engine.architecture,
            self._on_detail,
            recipe.dpkg_options,
            ground,
        )

    def _add_packages(self, recipe: Recipe, parent: str, folder: Path, build: str) -> str:
        """Add a recipe's packages to an image as one layer, and return the new image."""
        before, after, layer = (folder / f"{name}.tar" for name in ("before", "after", "layer"))
        self._export(parent, before)
        self._make_root(recipe, after, before)
        write_layer(before, after, layer)
        before.unlink()
        after.unlink()
        text = f"FROM {parent}\nLABEL {_BUILD}={build}\nADD layer.tar /\n"
        (folder / "Dockerfile").write_text(text, encoding="utf-8")
        with tempfile.TemporaryFile(dir=folder) as context:
            with tarfile.open(fileobj=context, mode="w") as archive:
                for path in (folder / "Dockerfile", layer):
                    archive.add(path, path.name)
            layer.unlink()
            context.seek(0)
            arguments = {"fileobj": context, "custom_context": True, "network_mode": "none"}
            what = f"the packages of the {recipe.name} image"
            return follow_build(self._engine, what, arguments, self._on_detail)

    def _export(self, image: str, target: Path) -> None:
        api = self._engine.api
        with self._engine.errors("export", image):
            made = api.create_container(image, ["true"], labels=new_labels())
            try:
                with target.open("wb") as file:
                    file.writelines(api.export(made["Id"]))
            finally:
                api.remove_container(made["Id"], force=True)

    def _import(self, archive: Path, name: str) -> dict[str, Any]:
        with self._engine.errors("import", name):
            # As one word: Podman ignores a separate tag.
            answer = self._engine.api.import_image(str(archive), repository=name)
        archive.unlink()
        found = self._engine.find_image(name)
        if found is None:
            raise BackendError(
                f"{self._engine.name} did not take the Debian root: {answer}",
                op="import",
                backend=self._engine.name,
            )
        return found

    def _on_registry_base(self, recipe: Recipe, folder: Path, build: str, *, force: bool) -> str:
        base = get_recipe(BASE)
        if recipe.name != BASE:
            parent = self._base_image("registry")
            return self._run(recipe, parent.id, folder, build, kind="registry", network=True)
        name = base.facts["registry"]
        if force or self._engine.find_image(name) is None:
            self._on_step(f"pulling {name}")
            pull(self._engine, name, self._on_detail)
        return self._run(base, name, folder, build, kind="registry", network=True)

    def _run(
        self, recipe: Recipe, parent: str, folder: Path, build: str, *, kind: str, network: bool
    ) -> str:
        wheels = None
        if "wheels" in recipe.facts:
            self._on_step(f"fetching the packages of the {recipe.name} image")
            wheels = folder / "wheels"
            self._download_wheels(recipe, wheels)
        self._on_step(f"building the {recipe.name} image")
        with tempfile.TemporaryFile(dir=folder) as context:
            recipe.write_context(context, wheels)
            context.seek(0)
            arguments = {
                "fileobj": context,
                "custom_context": True,
                "buildargs": {"BASE": parent, "BUILD": build},
                "labels": {MARK: VERSION, RECIPE_LABEL: recipe.digest, BASE_LABEL: kind},
                # A local build needs only its root and its context.
                "network_mode": None if network else "none",
            }
            return follow_build(
                self._engine,
                f"the {recipe.name} image",
                arguments,
                self._on_detail,
                hint="the build needs Debian's mirror; --base local fetches it with this "
                "machine's own means"
                if network
                else None,
            )

    def _download_wheels(self, recipe: Recipe, target: Path) -> None:
        def on_line(line: str) -> None:
            if line.startswith("Collecting "):
                self._on_detail(line.split()[1])

        download_wheels(recipe, self._engine.architecture, target, on_line)

    def _finish(self, recipe: Recipe, image: str, before: dict[str, Any] | None) -> ImageInfo:
        if self._smoke and recipe.name != BASE:
            self._on_step(f"testing the {recipe.name} image")
            run_smoke_test(self._engine, image, recipe.image)
        name, _, tag = recipe.image.rpartition(":")
        with self._engine.errors("tag", recipe.image):
            self._engine.api.tag(image, name, tag)
        found = self._engine.find_image(recipe.image)
        assert found is not None  # noqa: S101 - it has just been named
        if before is not None and before["Id"] != found["Id"]:
            self._remove_unnamed(before["Id"])
        return describe_image(recipe.image, found, built=True)

    @contextlib.contextmanager
    def _workspace(self) -> Iterator[tuple[Path, str]]:
        """Provide a folder and a label for intermediate images, which are removed after the
        block.
        """
        build = uuid.uuid4().hex
        with tempfile.TemporaryDirectory(prefix="llm-sandbox-build-") as folder:
            # mmdebstrap may run as another user.
            Path(folder).chmod(0o755)
            try:
                yield Path(folder), build
            finally:
                self._remove_stages(build)

    def _remove_stages(self, build: str) -> None:
        marked = {"dangling": True, "label": [f"{_BUILD}={build}"]}
        with contextlib.suppress(Exception):  # a failed cleanup must not hide another error
            for stage in self._engine.api.images(filters=marked):
                self._remove(stage["Id"])

    def _remove_unnamed(self, image: str) -> None:
        # A user may have given it another name.
        with contextlib.suppress(Exception):
            found = self._engine.find_image(image)
            if found is not None and not found["RepoTags"]:
                self._remove(image)

    def _remove(self, image: str) -> None:
        # A session may still use an older image, and the engine then refuses.
        with contextlib.suppress(Exception):
            self._engine.api.remove_image(image)


def describe_image(name: str, found: Mapping[str, Any], *, built: bool = False) -> ImageInfo:
    """Return the description of an image.

    Args:
        name: The name that the caller used.
        found: The answer of the engine's ``inspect``.
        built: Whether it was built just now.
    """
    config = found.get("Config") or {}
    labels = dict(config.get("Labels") or {})
    return ImageInfo(
        found["Id"],
        name,
        size=int(found.get("Size") or 0),
        built=built,
        env=dict(line.partition("=")[::2] for line in config.get("Env") or ()),
        workdir=config.get("WorkingDir") or None,
        labels=labels,
        is_snapshot=SNAPSHOT in labels,
    )
