"""Fixtures of the framework tests; ``make frameworks`` installs the missing frameworks."""

from collections.abc import Iterator

import pytest

from llm_sandbox import create_session
from llm_sandbox.session.session import BaseSession
from tests.integrations.frameworks.steps import warm


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as opened:
        warm(opened)
        yield opened
