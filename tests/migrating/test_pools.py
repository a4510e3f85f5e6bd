"""Programs with pools: the reference's calls, and that no session sees what another has left."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest

from llm_sandbox import (
    ArtifactSandboxSession,
    RestrictedModule,
    SandboxSession,
    SecurityIssueSeverity,
    SecurityPolicy,
    aio,
)
from llm_sandbox.exceptions import (
    ContainerError,
    SandboxTimeoutError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.pool import (
    ArtifactPooledSandboxSession,
    ContainerPoolManager,
    ContainerState,
    ExhaustionStrategy,
    PoolClosedError,
    PoolConfig,
    PooledContainer,
    PooledSandboxSession,
    PoolExhaustedError,
    create_pool_manager,
)

pytestmark = pytest.mark.slow

PATIENCE_S = 60.0


def wait_until(true: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.05)


def states(pool: ContainerPoolManager) -> dict[str, Any]:
    found: dict[str, Any] = pool.get_stats()["state_counts"]
    return found


def ready(pool: ContainerPoolManager) -> list[PooledContainer]:
    return [one for one in pool._stock._members if one.state is ContainerState.IDLE]


def test_sessions_share_a_pool(place: str) -> None:
    pool = create_pool_manager(
        backend=place,
        config=PoolConfig(max_pool_size=4, min_pool_size=1, enable_prewarming=True),
        lang="python",
    )
    try:
        with SandboxSession(pool=pool, lang="python") as session:
            assert "first\n" == session.run("print('first')").stdout
            assert 1 == states(pool)["busy"]
        with PooledSandboxSession(pool_manager=pool) as pooled:
            assert "second\n" == pooled.run("print('second')").stdout
            assert pooled.backend_session.is_open
    finally:
        pool.close()
    assert pool.get_stats()["closed"]
    assert 0 == pool.get_stats()["total_size"]
    with pytest.raises(PoolClosedError):
        pool.acquire()
    with pytest.raises(PoolClosedError):
        PooledSandboxSession(pool).open()


def test_the_next_session_sees_nothing_of_the_last(place: str) -> None:
    """Not in a pool of one sandbox, which would have to be the same one."""
    leave = (
        "secret = 'token'\nopen('token.txt', 'w').write(secret)\n"
        "open('/tmp/token.txt', 'w').write(secret)\n"
        "import subprocess; subprocess.Popen(['sleep', '300'])"
    )
    look = (
        "import os, pathlib\n"
        "print('secret' in globals(), os.path.exists('token.txt'),"
        " os.path.exists('/tmp/token.txt'))\n"
        "words = [p.read_bytes() for p in pathlib.Path('/proc').glob('[0-9]*/cmdline')]\n"
        "print(any(b'sleep' in w for w in words))"
    )
    config = PoolConfig(max_pool_size=1, max_container_uses=100)
    with create_pool_manager(backend=place, config=config) as pool:
        with SandboxSession(pool=pool) as session:
            assert session.run(leave).success()
            # What is looked for is there to be found.
            assert "True True True\nTrue\n" == session.run(look).stdout
        with SandboxSession(pool=pool) as session:
            assert "False False False\nFalse\n" == session.run(look).stdout


def test_plots_from_a_pool(place: str) -> None:
    code = "import matplotlib.pyplot as plt\nplt.plot([2, 1])\nplt.show()"
    with create_pool_manager(backend=place, config=PoolConfig(max_pool_size=2)) as pool:
        with ArtifactSandboxSession(pool=pool, enable_plotting=True) as session:
            assert 1 == len(session.run(code).plots)
        with ArtifactPooledSandboxSession(pool_manager=pool, enable_plotting=False) as session:
            assert [] == session.run(code).plots


def test_libraries_are_there_already() -> None:
    pool = create_pool_manager(
        backend="bubblewrap", config=PoolConfig(max_pool_size=2), lang="python", libraries=["six"]
    )
    with pool, SandboxSession(pool=pool) as session:
        assert "six\n" == session.run("import six; print(six.__name__)").stdout


def test_each_session_has_its_own_policy_and_timeouts() -> None:
    with create_pool_manager(backend="bubblewrap", config=PoolConfig(max_pool_size=2)) as pool:
        policy = SecurityPolicy(severity_threshold=SecurityIssueSeverity.LOW, refusal="result")
        policy.add_restricted_module(
            RestrictedModule(
                name="ctypes", description="native code", severity=SecurityIssueSeverity.HIGH
            )
        )
        with SandboxSession(pool=pool, security_policy=policy) as session:
            assert "blocked" == session.run("import ctypes").status
        with (
            SandboxSession(pool=pool, execution_timeout=1) as session,
            pytest.raises(SandboxTimeoutError),
        ):
            session.run("while True: pass")
        with SandboxSession(pool=pool) as session:
            assert session.run("import ctypes").success()
        with SandboxSession(pool=pool, session_timeout=1) as session:
            machine = session.sandbox
            wait_until(lambda: machine.end_reason is not None)
            with pytest.raises((ContainerError, SandboxTimeoutError)):
                session.run("1")


def test_what_the_pool_has_decided_is_refused() -> None:
    with create_pool_manager(backend="bubblewrap", workdir="/work") as pool:
        with SandboxSession(pool=pool, workdir="/work", backend="bubblewrap") as session:
            assert "/work\n" == session.execute_command("pwd").stdout
        for given in (
            {"client": object()},
            {"image": "debian"},
            {"workdir": "/other"},
            {"libraries": ["six"]},
            {"backend": "docker"},
            {"lang": "ruby"},
        ):
            with pytest.raises(ValidationError, match=next(iter(given))):
                SandboxSession(pool=pool, **given)
    with pytest.raises(UnsupportedError, match="container_id"):
        create_pool_manager(backend="docker", container_id="abc")


def test_exhaustion() -> None:
    def pool(strategy: ExhaustionStrategy, timeout: float = 30.0) -> ContainerPoolManager:
        config = PoolConfig(
            max_pool_size=1, exhaustion_strategy=strategy, acquisition_timeout=timeout
        )
        return create_pool_manager(backend="bubblewrap", config=config)

    with pool(ExhaustionStrategy.FAIL_FAST) as quick, PooledSandboxSession(quick):
        with pytest.raises(PoolExhaustedError) as caught:
            PooledSandboxSession(quick).open()
        assert (1, None) == (caught.value.pool_size, caught.value.timeout)
    with pool(ExhaustionStrategy.WAIT, 0.3) as short, PooledSandboxSession(short):
        with pytest.raises(PoolExhaustedError) as caught:
            PooledSandboxSession(short).open()
        assert 0.3 == caught.value.timeout
    with pool(ExhaustionStrategy.TEMPORARY) as more:
        with PooledSandboxSession(more), PooledSandboxSession(more) as second:
            assert second.run("print(2)").success()
            assert 2 == more.get_stats()["total_size"]
        assert 0 == more.get_stats()["total_size"]
    with pool(ExhaustionStrategy.WAIT) as patient:
        held = patient.acquire()
        assert (ContainerState.BUSY, 1) == (held.state, held.use_count)
        threading.Timer(0.5, patient.release, [held]).start()
        with PooledSandboxSession(patient) as session:
            assert session.run("print('in turn')").success()


def test_awaitable_sessions() -> None:
    async def main() -> str:
        async with aio.create_session(pool=pool) as session:
            return (await session.run("print('awaited')")).stdout

    with create_pool_manager(backend="bubblewrap") as pool:
        assert "awaited\n" == anyio.run(main)
        assert 0 == states(pool)["busy"]


def test_many_threads_and_few_sandboxes(place: str) -> None:
    config = PoolConfig(max_pool_size=2, min_pool_size=1, acquisition_timeout=PATIENCE_S)
    with create_pool_manager(backend=place, config=config, lang="python") as pool:

        def double(number: int) -> int:
            with SandboxSession(lang="python", pool=pool) as session:
                return int(session.run(f"print({number} * 2)").stdout)

        with ThreadPoolExecutor(max_workers=6) as executor:
            assert [n * 2 for n in range(8)] == list(executor.map(double, range(8)))


def test_ready_ones_are_kept_fresh() -> None:
    config = PoolConfig(
        max_pool_size=2, min_pool_size=1, health_check_interval=0.1, idle_timeout=None
    )
    with create_pool_manager(backend="bubblewrap", config=config) as pool:
        wait_until(lambda: states(pool)["idle"] == 1)
        dead = ready(pool)[0]
        dead.session.sandbox.terminate()
        wait_until(lambda: dead not in pool._stock._members and states(pool)["idle"] == 1)
        with PooledSandboxSession(pool) as session:
            assert session.run("print(1)").success()
    old = PoolConfig(max_pool_size=1, min_pool_size=1, idle_timeout=0.2, health_check_interval=0.1)
    with create_pool_manager(backend="bubblewrap", config=old) as pool:
        wait_until(lambda: states(pool)["idle"] == 1)
        first = ready(pool)[0]
        wait_until(lambda: bool(ready(pool)) and ready(pool)[0] is not first)


@pytest.mark.parametrize(
    "given",
    [
        {"max_pool_size": 0},
        {"min_pool_size": 3, "max_pool_size": 2},
        {"idle_timeout": -1},
        {"max_container_uses": 0},
        {"max_size": 3},
    ],
    ids=str,
)
def test_impossible_settings(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"pool_size|idle_timeout|max_container_uses|max_size"):
        PoolConfig(**given)
