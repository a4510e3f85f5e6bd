"""`llm-sandbox images`: builds and lists container images."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from llm_sandbox.cli.grammar import Argument, Command, Group, Option
from llm_sandbox.cli.render import print_table, say

if TYPE_CHECKING:
    from llm_sandbox.backends.base import Backend

__all__ = ["IMAGES", "Base", "EngineName", "EngineOption", "build", "list_images"]


class EngineName(StrEnum):
    """Container engine."""

    DOCKER = "docker"
    PODMAN = "podman"


class Base(StrEnum):
    """Base of an image."""

    AUTO = "auto"
    REGISTRY = "registry"
    LOCAL = "local"


EngineOption = Annotated[
    EngineName | None,
    Option("--engine", help="The engine; without it, docker, else podman.", metavar="NAME"),
]


def build(
    langs: Annotated[
        list[str] | None,
        Argument(help="Languages, or `base`; without any, all languages.", metavar="[LANG]..."),
    ] = None,
    engine: EngineOption = None,
    base: Annotated[
        Base,
        Option(
            "--base",
            help="What images stand on: Debian from a `registry`, Debian made `local`ly with "
            "mmdebstrap, or `auto`: local where no registry can be reached.",
        ),
    ] = Base.AUTO,
    no_smoke: Annotated[
        bool, Option("--no-smoke", help="Keep images without testing what they hold.")
    ] = False,
    force: Annotated[
        bool, Option("--force", help="Build even what is there and up to date.")
    ] = False,
) -> None:
    """Build images, unless they are there already.

    Interrupted or failed, it leaves nothing behind.
    """
    with _handle_errors():
        _build(langs or [], engine, base, smoke=not no_smoke, force=force)


def _build(
    langs: list[str], engine: EngineName | None, base: Base, *, smoke: bool, force: bool
) -> None:
    from llm_sandbox.backends.recipes import BASE, get_recipe, recipe_names
    from llm_sandbox.exceptions import BackendError, BackendUnavailableError

    names = langs or [name for name in recipe_names() if name != BASE]
    # A mistyped one costs no time, and one that two languages share is made once.
    recipes = list({recipe.name: recipe for recipe in map(get_recipe, names)}.values())
    images = _connect(engine).images
    rows = []
    failures = []
    with _steps() as (step, detail):
        for recipe in recipes:
            started = time.monotonic()
            try:
                made = images.build_recipe(
                    recipe,
                    base=base.value,
                    smoke=smoke,
                    force=force,
                    on_step=step,
                    on_detail=detail,
                )
            except BackendUnavailableError:
                raise
            except BackendError as error:
                # The others may well succeed.
                failures.append(error)
                continue
            took = f"built in {time.monotonic() - started:.0f} s" if made.built else "up to date"
            rows.append((made.name, _size(made.size), f"{made.base} base", took))
    print_table(rows)
    for failure in failures:
        say(failure.message, failure.hint)
    if failures:
        raise SystemExit(1)


def list_images(engine: EngineOption = None) -> None:
    """List the images of this version, and whether the engine has them."""
    with _handle_errors():
        _list(engine)


def _list(engine: EngineName | None) -> None:
    from llm_sandbox.backends.recipes import get_recipe, recipe_names

    images = _connect(engine).images
    rows = []
    for name in recipe_names():
        recipe = get_recipe(name)
        found = images.find(recipe.image)
        if found is None:
            rows.append((recipe.image, "-", "-", f"missing: llm-sandbox images build {name}"))
            continue
        current = found.matches(recipe)
        state = "up to date" if current else f"outdated: llm-sandbox images build {name}"
        rows.append((recipe.image, _size(found.size), f"{found.base} base", state))
    print_table(rows)


def _connect(name: EngineName | None) -> "Backend":
    from llm_sandbox.exceptions import SandboxError

    if name is not None:
        return _engine(name)
    try:
        return _engine(EngineName.DOCKER)
    except SandboxError as docker:
        try:
            return _engine(EngineName.PODMAN)
        except SandboxError:
            raise docker from None


def _engine(name: EngineName) -> "Backend":
    from llm_sandbox.backends.registry import get_backend

    backend = get_backend(name.value)
    backend.ping()
    return backend


@contextmanager
def _handle_errors() -> Iterator[None]:
    """Undo incomplete builds on Ctrl-C and SIGTERM; print errors with their hints."""
    from llm_sandbox.exceptions import SandboxError

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        say("interrupted: incomplete images were removed")
        raise SystemExit(130) from None
    except SandboxError as error:
        say(error.message, error.hint)
        raise SystemExit(1) from None


@contextmanager
def _steps() -> Iterator[tuple[Callable[[str], None], Callable[[str], None]]]:
    """Return the printer of build steps: one changing line on a terminal, one line for each step
    elsewhere.
    """
    if not sys.stderr.isatty():
        yield _print_step, lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None)
        current = ""

        def step(words: str) -> None:
            nonlocal current
            current = escape(words)
            progress.update(task, description=current)

        def detail(words: str) -> None:
            progress.update(task, description=f"{current} [dim]{escape(words[:60])}[/dim]")

        yield step, detail


def _print_step(words: str) -> None:
    sys.stderr.write(f"==> {words}\n")
    sys.stderr.flush()


def _size(number: int) -> str:
    return f"{number / 1_000_000:.0f} MB"


IMAGES = Group(
    "images",
    "Build and list the images that docker and podman sandboxes are made of.",
    {
        "build": Command(build, "build"),
        "list": Command(list_images, "list"),
    },
)
