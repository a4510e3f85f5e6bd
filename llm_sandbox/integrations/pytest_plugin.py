r"""Fixtures for tests that run code in a sandbox: `sandbox`, `sandbox_session`, `sandbox_backend`.

pytest loads this module wherever the library is installed, so it imports nothing until a fixture is
used::

    @pytest.mark.sandbox(lang="python", memory="256m", libraries=["tabulate"])
    def test_it(sandbox_session):
        assert sandbox_session.run("print(1)").stdout == "1\n"

A run of `sandbox_session` is stopped after 60 seconds, and raises `SandboxTimeoutError`; the
marker's ``timeout=`` changes that, and ``timeout=None`` removes the limit.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from llm_sandbox.sandbox import Sandbox
    from llm_sandbox.session.session import BaseSession

__all__ = [
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_makereport",
    "sandbox",
    "sandbox_backend",
    "sandbox_session",
]

_OWN = str(Path(__file__).resolve().parents[1]) + os.sep
_LIMITS = ("memory", "processes", "cpus")
_MARKER = (
    "sandbox(lang, image, libraries, network, env, persistent, timeout, policy, memory, processes, "
    "cpus): what the sandbox of the fixtures `sandbox` and `sandbox_session` is like"
)
_OF_SESSIONS = ("lang", "libraries", "persistent", "policy")
_OF_BOTH = ("image", "network", "env", "timeout", *_LIMITS)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--sandbox-backend``."""
    group = parser.getgroup("llm-sandbox")
    group.addoption(
        "--sandbox-backend",
        metavar="NAME",
        help="where the sandboxes of tests are made; default: the first that works here",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker `sandbox`."""
    config.addinivalue_line("markers", _MARKER)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> "Generator[None, pytest.TestReport, pytest.TestReport]":
    """Hide the frames of this library in the tracebacks of tests that use its fixtures.

    ``--full-trace`` shows them.
    """
    used = {"sandbox", "sandbox_session"} & set(getattr(item, "fixturenames", ()))
    modules: list[dict[str, Any]] = []
    if call.excinfo is not None and used:
        entries = [entry.frame for entry in call.excinfo.traceback]
        modules = [one.f_globals for one in entries if str(one.code.path).startswith(_OWN)]
    for names in modules:
        names["__tracebackhide__"] = True
    try:
        return (yield)
    finally:
        for names in modules:
            names.pop("__tracebackhide__", None)


@pytest.fixture(scope="session")
def sandbox_backend(pytestconfig: pytest.Config) -> str | None:
    """Return the backend name from ``--sandbox-backend``; None for the first that works.

    Override it in a conftest to run the same tests on several.
    """
    named: str | None = pytestconfig.getoption("--sandbox-backend")
    return named


@pytest.fixture
def sandbox_session(
    request: pytest.FixtureRequest, sandbox_backend: str | None
) -> "Iterator[BaseSession]":
    """Provide an open session for each test, configured by the marker `sandbox`."""
    from llm_sandbox import create_session
    from llm_sandbox.limits import DEFAULT_TIMEOUT_S

    asked = _asked(request, *_OF_SESSIONS, *_OF_BOTH)
    policy = asked.pop("policy", None)
    if isinstance(policy, str):
        from llm_sandbox.security.policy_file import find_policy

        policy = find_policy(policy)
    timeout = asked.pop("timeout", DEFAULT_TIMEOUT_S)
    limits = _limits(asked)
    session = create_session(
        sandbox_backend, limits=limits, security_policy=policy, execution_timeout=timeout, **asked
    )
    with session:
        yield session


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, sandbox_backend: str | None) -> "Iterator[Sandbox]":
    """Provide a sandbox for each test, for commands and files, as the marker `sandbox` says."""
    from llm_sandbox.sandbox import Sandbox

    asked = _asked(request, *_OF_BOTH)
    limits = _limits(asked)
    made = Sandbox.create(backend=sandbox_backend, limits=limits, **asked)
    with made:
        yield made


def _asked(request: pytest.FixtureRequest, *known: str) -> dict[str, Any]:
    """Return the options of the markers; those nearest to the test override others."""
    asked: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers("sandbox"))):
        if marker.args:
            raise pytest.UsageError("the marker sandbox takes names only: sandbox(lang='python')")
        asked.update(marker.kwargs)
    wrong = sorted(set(asked) - set(known))
    if wrong:
        names = ", ".join(wrong)
        raise pytest.UsageError(
            f"the fixture {request.fixturename} knows no {names}; it knows {', '.join(known)}"
        )
    return asked


def _limits(asked: dict[str, Any]) -> Any:
    from llm_sandbox.limits import Limits

    return Limits.parse({name: asked.pop(name) for name in _LIMITS if name in asked})
