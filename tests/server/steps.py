"""Steps of a client: one after another on the same sandboxes, each reported on its own."""

import inspect
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.plugins.steps_table import PROPERTY

Step = Callable[["World"], Awaitable[None]]


@dataclass
class World:
    """What the steps share: the SDK's class of sandboxes, and what they have made."""

    kind: Any
    flavor: str
    box: Any = None
    held: dict[str, Any] = field(default_factory=dict)

    @property
    def is_async(self) -> bool:
        return self.flavor == "async"


async def do(value: Any) -> Any:
    """Wait for what an asynchronous SDK returns; return what a synchronous one does."""
    return await value if inspect.isawaitable(value) else value


class Steps:
    """List of steps, in order."""

    def __init__(self) -> None:
        self.all: list[tuple[str, Step]] = []

    def __call__(self, function: Step) -> Step:
        """Add a step, whose name says what it shows."""
        self.all.append((function.__name__.replace("_", " "), function))
        return function

    async def run(self, world: World, client: str, record: Callable[[str, object], None]) -> None:
        """Take every step, report each, and fail at the end with those that failed."""
        failures = []
        for name, step in self.all:
            try:
                await step(world)
                outcome = "yes"
            except Exception:  # noqa: BLE001 - the other steps go on
                outcome = "FAILED"
                failures.append(f"{name}:\n{traceback.format_exc(limit=-4)}")
            record(PROPERTY, (client, name, outcome))
        if failures:
            pytest.fail(f"{len(failures)} of {len(self.all)}\n" + "\n".join(failures))
