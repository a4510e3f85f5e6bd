"""Languages beside Python in gVisor, whose kernel has neither pidfds nor pipes that open anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError, SandboxTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def session() -> Iterator[SandboxSession]:
    try:
        get_backend("gvisor").check()
    except BackendUnavailableError as error:
        pytest.skip(f"gvisor: {error.message}")
    with SandboxSession(lang="bash", backend="gvisor") as session:
        yield session


def test_state_is_kept(session: SandboxSession) -> None:
    session.run("colour=blue")
    assert "blue\n" == session.run('echo "$colour"').stdout


def test_lines_are_given_and_end(session: SandboxSession) -> None:
    code = 'read -r a; read -r b; echo "$b $a"; read -r c || echo end'
    assert "second first\nend\n" == session.run(code, stdin="first\nsecond\n").stdout
    assert "end\n" == session.run("read -r c || echo end").stdout, "without lines it is at its end"


def test_its_end_is_seen(session: SandboxSession) -> None:
    """By a signal that wakes the kernel, as there is no descriptor for it."""
    result = session.run("kill -9 $$")
    assert (137, "reset") == (result.exit_code, result.state)
    assert "again\n" == session.run("echo again").stdout


def test_it_is_interrupted_and_used_again(session: SandboxSession) -> None:
    session.run("colour=red")
    with pytest.raises(SandboxTimeoutError):
        session.run("while :; do :; done", timeout=3)
    assert "red\n" == session.run('echo "$colour"').stdout
