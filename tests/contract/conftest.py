"""Images of a test's own, in whatever engine it runs on."""

import io
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from docker.errors import APIError, NotFound

from llm_sandbox.backends.containers.backend import ContainerBackend
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.session.prefork import shared_pool
from llm_sandbox.settings import get_settings

MARK = "/srv/mark"
IMAGE = image_name("python")


@pytest.fixture(autouse=True)
def _nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No containers besides those that a test asks for."""
    monkeypatch.setenv("LLM_SANDBOX_PREFORK", "0")
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()
    shared_pool().clear()


@pytest.fixture(scope="session")
def client_of() -> Callable[[str], Any]:
    """Return an engine's client."""

    def find(name: str) -> Any:
        backend = get_backend(name)
        assert isinstance(backend, ContainerBackend)
        return backend.engine.client

    return find


@pytest.fixture(scope="session")
def build(client_of: Callable[[str], Any]) -> Iterator[Callable[[str, str, str], str]]:
    """Build an image from the text of a Dockerfile; it is removed in the end."""
    built: list[tuple[str, Any, str]] = []

    def make(engine: str, name: str, text: str) -> str:
        client = client_of(engine)
        tag = f"llm-sandbox-test/{name}:{os.getpid()}"
        if (engine, client, tag) not in built:
            client.images.build(
                fileobj=io.BytesIO(text.encode()), tag=tag, rm=True, network_mode="none"
            )
            built.append((engine, client, tag))
        return tag

    yield make
    for engine, _, tag in built:
        # A service of this process may have been started anew since.
        remove_at_last(client_of(engine), tag)


@pytest.fixture(scope="session")
def remove_image() -> Callable[[Any, str], None]:
    """Remove an image as soon as the engine lets it go."""
    return remove_at_last


def remove_at_last(client: Any, image: str) -> None:
    """Containers of closed sessions go when nobody waits for them; until then they use it."""
    limit = time.monotonic() + 60
    while True:
        try:
            client.images.remove(image)
        except NotFound:
            return
        except APIError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.2)


@pytest.fixture
def marked(build: Callable[[str, str, str], str]) -> Callable[[str], str]:
    """An image like ours that has a file of its own."""
    text = f"FROM {IMAGE}\nUSER 0\nRUN mkdir -p /srv && echo marked > {MARK}\n"
    return lambda engine: build(engine, "marked", text)
