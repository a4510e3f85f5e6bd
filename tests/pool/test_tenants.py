"""What a tenant leaves never reaches the next one, and what the pool prepares reaches each."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import RestrictedModule, SecurityIssueSeverity, SecurityPolicy, create_session
from llm_sandbox.exceptions import SandboxTimeoutError, UnsupportedError, ValidationError
from llm_sandbox.pool import SandboxPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from llm_sandbox import BaseSession

LEAVE = """
import json, subprocess
secret = "token"
for path in ("token.txt", "/tmp/token.txt"):
    open(path, "w").write(secret)
json.dumps = lambda *_: secret
subprocess.Popen(["sleep", "321"])
"""
LOOK = """
import json, os, pathlib
def _processes():
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes().split(b"\\0")
        except OSError:
            pass
print(*[name for name, found in {
    "variable": "secret" in globals(),
    "file": os.path.exists("token.txt"),
    "temporary": os.path.exists("/tmp/token.txt"),
    "module": json.dumps(1) != "1",
    "process": any(b"321" in words for words in _processes()),
}.items() if found])
"""
EVERYTHING = ["variable", "file", "temporary", "module", "process", "sandbox", "history"]


def seen_by_the_next(claim: Callable[[], AbstractContextManager[BaseSession]]) -> list[str]:
    """Return what the second of two tenants sees of the first."""
    with claim() as first:
        assert first.run(LEAVE).success()
        machine = first.sandbox.id
    with claim() as second:
        history = ["history"] if second.history else []
        result = second.run(LOOK)
        assert result.success(), result.stderr
        same = ["sandbox"] if second.sandbox.id == machine else []
        return [*result.stdout.split(), *same, *history]


def test_no_tenant_sees_anything_of_another(place: str) -> None:
    """Not in a pool that has room for one session, where a second use would be the easiest."""
    with SandboxPool(1, max_sessions=1, backend=place) as pool:
        assert [] == seen_by_the_next(pool.claim)


def test_a_pool_that_reuses_a_session_would_be_caught(place: str) -> None:
    """The control: of a session that two tenants have in turn, the second sees everything."""
    with create_session(place) as session:

        @contextlib.contextmanager
        def reuse() -> Iterator[BaseSession]:
            yield session

        assert EVERYTHING == seen_by_the_next(reuse)


def test_sessions_are_prepared(place: str, tmp_path: Path) -> None:
    """Files, folders and the variables of the warm-up cell are there, for each tenant anew."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "two.txt").write_text("2")
    with SandboxPool(
        1,
        backend=place,
        files={"one.txt": b"1", "deep/folder": tmp_path / "folder"},
        warm_up="import json\nnumbers = [int(open('one.txt').read())]",
    ) as pool:
        for _ in range(2):
            with pool.claim() as session:
                assert () == session.history
                result = session.run(
                    "numbers.append(int(open('deep/folder/two.txt').read()))\nprint(numbers)"
                )
                assert "[1, 2]\n" == result.stdout
                assert () == tuple(result.artifacts)


@pytest.mark.slow
def test_libraries_are_installed_before() -> None:
    pool = SandboxPool(1, backend="bubblewrap", libraries=["six"], warm_up="import six")
    with pool, pool.claim() as session:
        assert "six\n" == session.run("print(six.__name__)").stdout


def test_other_languages() -> None:
    pool = SandboxPool(1, backend="bubblewrap", lang="bash", warm_up="word=ready")
    with pool, pool.claim() as session:
        assert "ready\n" == session.run("echo $word").stdout


def test_options_of_a_tenant() -> None:
    """Those of the claim hold for it alone; the pool's hold where the claim has none."""
    policy = SecurityPolicy(severity_threshold=SecurityIssueSeverity.LOW, refusal="result")
    policy.add_restricted_module(
        RestrictedModule(
            name="ctypes", description="native code", severity=SecurityIssueSeverity.HIGH
        )
    )
    records: list[object] = []
    with SandboxPool(
        1,
        backend="bubblewrap",
        warm_up="import ctypes",
        security_policy=policy,
        enable_plotting=False,
        observers=[records.append],
    ) as pool:
        with pool.claim() as session:
            assert "blocked" == session.run("import ctypes").status
            assert not session.enable_plotting
        # The warm-up cells of the pool are not the tenant's runs.
        assert 1 == len(records)
        with pool.claim(
            security_policy=None, execution_timeout=1, enable_plotting=True, observers=[]
        ) as session:
            assert session.run("import ctypes").success()
            assert session.enable_plotting
            with pytest.raises(SandboxTimeoutError):
                session.run("while True: pass")
        with create_session(pool=pool) as session:
            assert "blocked" == session.run("import ctypes").status
        with pytest.raises(ValidationError, match="libraries"):
            pool.claim(libraries=["six"])  # type: ignore[call-arg]


def test_the_time_of_a_session_begins_with_its_claim() -> None:
    with SandboxPool(1, backend="bubblewrap", session_timeout=30) as pool:
        pool.wait_until_ready(60)
        assert pool._stock._members[0].session.config.session_timeout is None
        with pool.claim() as session:
            assert 30 == session.config.session_timeout


def test_a_session_that_is_opened_again_is_another_one() -> None:
    with SandboxPool(1, backend="bubblewrap") as pool:
        session = pool.claim()
        assert session.run("x = 1").success()
        first = session.sandbox.id
        session.close()
        with session:
            assert first != session.sandbox.id
            assert "NameError" == getattr(session.run("x").error, "name", None)


@pytest.mark.parametrize(
    "given",
    [
        {"container_id": "abc"},
        {"commit_container": True},
        {"name": "one"},
        {"on_exit": "keep"},
        {"idle_timeout": 3.0},
    ],
    ids=str,
)
def test_options_that_would_join_tenants_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(UnsupportedError, match=next(iter(given))):
        SandboxPool(1, backend="bubblewrap", **given)  # type: ignore[arg-type]
