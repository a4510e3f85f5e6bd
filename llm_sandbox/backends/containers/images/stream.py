"""Pulls and builds of images, with the progress that the engine streams."""

import contextlib
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.images.host_programs import Tail
from llm_sandbox.exceptions import BackendError, ImagePullError

if TYPE_CHECKING:
    from docker.api import APIClient

__all__ = ["follow_build", "pull", "why_no_registry"]

_STEP = re.compile(r"(?:\[\d/\d\] )?step (\d+)/(\d+) ?: ?(.*)", re.IGNORECASE)
_BUILT = re.compile(r"Successfully built ([0-9a-f]{12,64})")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_MB = 1_000_000


def follow_build(
    engine: Engine,
    what: str,
    arguments: Mapping[str, Any],
    on_line: Callable[[str], None],
    *,
    hint: str | None = None,
) -> str:
    """Build an image, and return its id.

    An exception stops the build, and the engine then removes its containers.

    Args:
        engine: The engine.
        what: Description of the image for errors.
        arguments: Arguments of docker-py's `APIClient.build`.
        on_line: Called with each step, such as ``step 2 of 9: COPY . /src``.
        hint: Hint of the error.

    Raises:
        BackendUnavailableError: The engine does not answer.
        BackendError: The build failed; the message has its last 20 lines.
    """
    tail = Tail()
    image = ""
    unfinished = ""
    with engine.errors("build", what), _closed_at_once(engine.api):
        events = engine.api.build(**arguments, rm=True, forcerm=True, decode=True)
        for event in events:
            if "error" in event:
                tail.add(unfinished)
                reason = _plain(event["error"]).strip()
                raise BackendError(
                    f"{engine.name} could not build {what}: {reason}\n{tail}",
                    op="build",
                    backend=engine.name,
                    hint=hint,
                )
            image = (event.get("aux") or {}).get("ID", image)
            # A line may come in several pieces, each in colours of its own.
            text = unfinished + _plain(event.get("stream", ""))
            whole, newline, unfinished = text.rpartition("\n")
            for line in (whole + newline).splitlines():
                tail.add(line)
                image = _note(line, on_line) or image
    if not image:
        raise BackendError(
            f"{engine.name} said nothing of the image it built from {what}\n{tail}",
            op="build",
            backend=engine.name,
        )
    return image


def _note(line: str, on_line: Callable[[str], None]) -> str | None:
    """Report a step; return the image's id if the line has it."""
    step = _STEP.match(line)
    if step is not None:
        on_line(f"step {step[1]} of {step[2]}: {step[3]}")
    built = _BUILT.match(line)
    return built[1] if built else None


def pull(engine: Engine, image: str, on_line: Callable[[str], None]) -> None:
    """Pull an image from its registry.

    Args:
        engine: The engine.
        image: Name with tag or digest; without either, ``latest``.
        on_line: Called with the progress, such as ``12 of 80 MB``.

    Raises:
        BackendUnavailableError: The engine does not answer.
        ImagePullError: The engine could not pull it; the message has the reason.
    """
    from docker.errors import APIError

    progress = _PullProgress(on_line)

    def failed(words: object) -> ImagePullError:
        return ImagePullError(
            image,
            _plain(words),
            op="pull",
            backend=engine.name,
            hint=f"try it by hand: {engine.name} pull {image}",
        )

    with engine.errors("pull", image), _closed_at_once(engine.api):
        try:
            for event in engine.api.pull(image, stream=True, decode=True):
                if "error" in event:
                    raise failed(event["error"])
                progress.update(event)
        except APIError as error:
            raise failed(error.explanation or error) from None


class _PullProgress:
    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._layers: dict[str, tuple[int, int]] = {}

    def update(self, event: Mapping[str, Any]) -> None:
        progress = event.get("progressDetail") or {}
        if event.get("status") == "Downloading" and "total" in progress:
            self._layers[event["id"]] = progress["current"], progress["total"]
            done = sum(current for current, _ in self._layers.values())
            total = sum(total for _, total in self._layers.values())
            self._on_line(f"{done / _MB:.0f} of {total / _MB:.0f} MB")


def _plain(text: object) -> str:
    return _ESCAPES.sub("", str(text)) if text else ""


@contextlib.contextmanager
def _closed_at_once(api: "APIClient") -> Iterator[None]:
    """Close the responses of this thread when the block ends, however it ends.

    An engine continues a build or pull as long as its response is open, and an exception keeps the
    response of its call open.
    """
    mine = threading.get_ident()
    answers: list[Any] = []

    def remember(answer: Any, *args: object, **kwargs: object) -> None:
        if threading.get_ident() == mine:
            answers.append(answer)

    hooks = api.hooks["response"]
    hooks.append(remember)
    try:
        yield
    finally:
        hooks.remove(remember)
        for answer in answers:
            answer.close()


_PATIENCE_S = 8.0
_HUB = "https://registry-1.docker.io/v2/"


def why_no_registry(engine: Engine, image: str, within_s: float = _PATIENCE_S) -> str | None:
    """Return why the engine cannot pull an image; None if it probably can.

    Args:
        engine: The engine, which requests only the description of the image.
        image: Name with a tag.
        within_s: Seconds after which the registry counts as unreachable.
    """
    answers: list[str | None] = []

    def ask() -> None:
        answers.append(_ask(engine, image, within_s))

    # An engine waits minutes for a registry behind a silent firewall.
    asking = threading.Thread(target=ask, daemon=True, name="llm-sandbox-registry")
    asking.start()
    asking.join(within_s)
    return answers[0] if answers else f"no answer within {within_s:.0f} s"


def _ask(engine: Engine, image: str, within_s: float) -> str | None:
    import docker.errors
    import requests

    if engine.name == "podman":
        # It has no such request; it mostly reaches what this process reaches.
        return _ask_hub(within_s)
    api: Any = engine.api
    try:
        api.inspect_distribution(image)
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        return str(getattr(error, "explanation", None) or error)
    return None


def _ask_hub(within_s: float) -> str | None:
    try:
        urllib.request.urlopen(_HUB, timeout=within_s).close()
    except urllib.error.HTTPError:
        return None  # it requires authentication: it is there
    except OSError as error:
        return str(error)
    return None
