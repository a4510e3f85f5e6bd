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


async def code(w: World, text: str, **options: Any) -> Any:
    """Run code in the shared sandbox."""
    return await do(w.box.run_code(text, **options))


async def sh(w: World, text: str, **options: Any) -> Any:
    """Run a command in the shared sandbox."""
    return await do(w.box.commands.run(text, **options))


class Steps:
    """List of steps, in order."""

    def __init__(self) -> None:
        self.all: list[tuple[str, Step, bool]] = []

    @classmethod
    def joined(cls, *parts: "Steps") -> "Steps":
        """Return the steps of several lists, in order."""
        steps = cls()
        steps.all = [step for part in parts for step in part.all]
        return steps

    def __call__(self, function: Step) -> Step:
        """Add a step, whose name says what it shows."""
        return self._add(function, only_async=False)

    def asynchronous(self, function: Step) -> Step:
        """Add a step that only an asynchronous client can take."""
        return self._add(function, only_async=True)

    def _add(self, function: Step, *, only_async: bool) -> Step:
        self.all.append((function.__name__.replace("_", " "), function, only_async))
        return function

    async def run(self, world: World, client: str, record: Callable[[str, object], None]) -> None:
        """Take every step, report each, and fail at the end with those that failed."""
        failures = []
        for name, step, only_async in self.all:
            if only_async and not world.is_async:
                continue
            try:
                await step(world)
                outcome = "yes"
            except Exception:  # noqa: BLE001 - the other steps go on
                outcome = "FAILED"
                failures.append(f"{name}:\n{traceback.format_exc(limit=-4)}")
            record(PROPERTY, (client, name, outcome))
        if failures:
            pytest.fail(f"{len(failures)} of {len(self.all)}\n" + "\n".join(failures))
