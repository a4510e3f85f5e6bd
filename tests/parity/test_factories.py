"""Arguments of all session factories: the same names and defaults."""

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

from llm_sandbox import aio, create
from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.pool import SandboxPool
from llm_sandbox.sandbox.detached.record import OnExit
from llm_sandbox.secrets import Secret
from llm_sandbox.security import SecurityPolicy
from llm_sandbox.session.config import Start
from llm_sandbox.session.lock import Busy
from llm_sandbox.telemetry import RunObserver

NAMES = {
    "Secret": Secret,
    "SecurityPolicy": SecurityPolicy,
    "Start": Start,
    "ArtifactSandboxSession": ArtifactSandboxSession,
    "BaseSession": object,
    "Busy": Busy,
    "OnExit": OnExit,
    "RunObserver": RunObserver,
    "SandboxPool": SandboxPool,
}


def parameters(function: Callable[..., Any]) -> list[tuple[str, object, object, object]]:
    """Name, kind, default and type of each."""
    types = get_type_hints(function, localns=NAMES)
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default, types[p.name]) for p in found if p.name != "self"]


@pytest.mark.parametrize(
    "other", [aio.create_session, ArtifactSandboxSession.__init__], ids=["aio", "class"]
)
def test_parameters_are_those_of_create_session(other: Callable[..., Any]) -> None:
    assert parameters(create.create_session) == parameters(other)


def test_attaching_takes_the_same_arguments() -> None:
    assert parameters(create.attach_session) == parameters(aio.attach_session)
