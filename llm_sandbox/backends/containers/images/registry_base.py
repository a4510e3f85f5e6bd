"""Whether the registry that the base comes from can be reached, found out in bounded time."""

import threading
import urllib.error
import urllib.request
from typing import Any

from llm_sandbox.backends.containers.engine import Engine

__all__ = ["why_no_registry"]

_PATIENCE_S = 8.0
_HUB = "https://registry-1.docker.io/v2/"


def why_no_registry(engine: Engine, image: str, within_s: float = _PATIENCE_S) -> str | None:
    """Return why the engine cannot fetch an image, or None if it seems that it can.

    Args:
        engine: The engine, which asks the registry for the image's description only.
        image: A name with a tag.
        within_s: Seconds after which silence counts as unreachable.
    """
    answers: list[str | None] = []

    def ask() -> None:
        answers.append(_ask(engine, image, within_s))

    # An engine that waits for a registry behind a silent firewall would have us wait for minutes.
    asking = threading.Thread(target=ask, daemon=True, name="llm-sandbox-registry")
    asking.start()
    asking.join(within_s)
    return answers[0] if answers else f"no answer within {within_s:.0f} s"


def _ask(engine: Engine, image: str, within_s: float) -> str | None:
    import docker.errors
    import requests

    if engine.name == "podman":
        # It cannot be asked this; but what this process can reach, it mostly can as well.
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
        return None  # it wants to know who asks: it is there
    except OSError as error:
        return str(error)
    return None
