"""Pools on each backend, with no sandboxes but their own."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError
from llm_sandbox.session.prefork import shared_pool
from llm_sandbox.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE_S = 60.0


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until something holds, at most a minute."""
    limit = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.02)


class Background:
    """Call in a thread, whose outcome is awaited for at most a minute."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._value: object = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._make, daemon=True)
        self._thread.start()

    def _make(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:  # noqa: BLE001 - `outcome` raises it
            self._error = error

    @property
    def is_over(self) -> bool:
        """Whether the call has ended."""
        return not self._thread.is_alive()

    def outcome(self) -> object:
        """Wait for the value of the call, or raise its error."""
        self._thread.join(PATIENCE_S)
        assert self.is_over
        if self._error is not None:
            raise self._error
        return self._value


@pytest.fixture(autouse=True)
def _nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No ready kernels besides those of pools."""
    monkeypatch.setenv("LLM_SANDBOX_PREFORK", "0")
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()
    shared_pool().clear()


@pytest.fixture(
    params=[
        "bubblewrap",
        pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
        pytest.param("podman", marks=pytest.mark.engine("podman", image="python")),
    ]
)
def place(request: pytest.FixtureRequest) -> str:
    """Name of a backend that works here."""
    name = str(request.param)
    try:
        get_backend(name).check()
    except BackendUnavailableError as error:
        pytest.skip(f"{name}: {error.message}")
    return name
