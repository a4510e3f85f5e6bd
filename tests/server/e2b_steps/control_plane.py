"""Steps of E2B's Python SDK: sandboxes: creation, lists, lifetime, refusals."""

import datetime
import uuid

import pytest
from e2b import (
    NotFoundException,
    SandboxException,
    SandboxNotFoundException,
    SandboxQuery,
    SandboxState,
)

from tests.server.steps import Steps, World, do

STEPS = Steps()
step = STEPS


@step
async def create(w: World) -> None:
    w.box = await do(
        w.kind.create(timeout=120, metadata={"of": w.flavor, "n": "1"}, envs={"GIVEN": "here"})
    )
    assert w.box.sandbox_id


@step
async def create_with_template(w: World) -> None:
    box = await do(w.kind.create("base", timeout=60))
    assert await do(box.kill()) is True


@step
async def create_with_unknown_template(w: World) -> None:
    with pytest.raises((NotFoundException, SandboxException), match="base, code-interpreter-v1"):
        await do(w.kind.create("no-such-template"))


@step
async def create_with_too_long_timeout(w: World) -> None:
    with pytest.raises(SandboxException, match="invalid timeout"):
        await do(w.kind.create(timeout=10_000_000))


@step
async def create_with_internet_access(w: World) -> None:
    with pytest.raises(SandboxException, match="--network internet"):
        await do(w.kind.create(allow_internet_access=True))


@step
async def create_without_internet_access(w: World) -> None:
    box = await do(w.kind.create(allow_internet_access=False, timeout=30))
    assert await do(box.kill()) is True


@step
async def create_that_pauses_itself(w: World) -> None:
    with pytest.raises(SandboxException, match="cannot be paused"):
        await do(w.kind.create(lifecycle={"on_timeout": "pause"}))


@step
async def create_twice_with_one_idempotency_key(w: World) -> None:
    key = str(uuid.uuid4())
    first = await do(w.kind.create(timeout=30, idempotency_key=key))
    second = await do(w.kind.create(timeout=30, idempotency_key=key))
    assert first.sandbox_id == second.sandbox_id
    assert await do(first.kill()) is True
    assert await do(second.kill()) is False


@step
async def is_running(w: World) -> None:
    assert await do(w.box.is_running()) is True


@step
async def get_info(w: World) -> None:
    info = await do(w.box.get_info())
    assert (w.box.sandbox_id, SandboxState.RUNNING) == (info.sandbox_id, info.state)
    assert {"of": w.flavor, "n": "1"} == info.metadata
    assert info.started_at < datetime.datetime.now(datetime.UTC) < info.end_at
    assert info.memory_mb >= 16
    assert info.cpu_count >= 1


@step
async def get_info_of_an_unknown_sandbox(w: World) -> None:
    with pytest.raises(SandboxNotFoundException):
        await do(w.kind.get_info("0" * 20))


@step
async def list_by_metadata(w: World) -> None:
    pages = w.kind.list(query=SandboxQuery(metadata={"of": w.flavor, "n": "1"}))
    found = await do(pages.next_items())
    assert [w.box.sandbox_id] == [item.sandbox_id for item in found]
    assert pages.has_next is False


@step
async def list_by_other_metadata(w: World) -> None:
    pages = w.kind.list(query=SandboxQuery(metadata={"of": "nobody"}))
    assert [] == await do(pages.next_items())


@step
async def list_by_state(w: World) -> None:
    pages = w.kind.list(query=SandboxQuery(state=[SandboxState.PAUSED]))
    assert [] == await do(pages.next_items())


@step
async def list_in_pages(w: World) -> None:
    others = [await do(w.kind.create(timeout=30, metadata={"page": w.flavor})) for _ in range(3)]
    pages = w.kind.list(query=SandboxQuery(metadata={"page": w.flavor}), limit=2)
    first = await do(pages.next_items())
    assert pages.has_next is True
    second = await do(pages.next_items())
    assert pages.has_next is False
    ids = [item.sandbox_id for item in (*first, *second)]
    assert [other.sandbox_id for other in reversed(others)] == ids
    for other in others:
        assert await do(other.kill()) is True


@step
async def set_timeout(w: World) -> None:
    await do(w.box.set_timeout(600))
    info = await do(w.box.get_info())
    left = (info.end_at - datetime.datetime.now(datetime.UTC)).total_seconds()
    assert 500 < left <= 600


@step
async def set_timeout_of_an_unknown_sandbox(w: World) -> None:
    with pytest.raises(SandboxNotFoundException):
        await do(w.kind.set_timeout("0" * 20, 10))


@step
async def connect(w: World) -> None:
    same = await do(w.kind.connect(w.box.sandbox_id))
    assert "yes\n" == (await do(same.commands.run("echo yes"))).stdout


@step
async def connect_does_not_shorten_life(w: World) -> None:
    before = (await do(w.box.get_info())).end_at
    await do(w.kind.connect(w.box.sandbox_id, timeout=10))
    assert before == (await do(w.box.get_info())).end_at


@step
async def connect_to_an_unknown_sandbox(w: World) -> None:
    with pytest.raises(SandboxNotFoundException):
        await do(w.kind.connect("0" * 20))


@step
async def get_metrics(w: World) -> None:
    (found,) = await do(w.box.get_metrics())
    assert 0 < found.mem_used <= found.mem_total
    assert 0 <= found.disk_used < found.disk_total
    assert found.cpu_count >= 1


@step
async def pause_is_refused_in_words(w: World) -> None:
    with pytest.raises(SandboxException, match="memory of a sandbox cannot be saved"):
        await do(w.box.pause())


@step
async def snapshot_is_refused_in_words(w: World) -> None:
    with pytest.raises(SandboxException, match="download its files"):
        await do(w.box.create_snapshot())


@step
async def fork_is_refused_in_words(w: World) -> None:
    with pytest.raises(SandboxException, match="cannot be copied"):
        await do(w.box.fork())


@step
async def network_rules_are_refused_in_words(w: World) -> None:
    with pytest.raises(SandboxException, match="closed it"):
        await do(w.box.update_network({"allow_out": ["example.com"]}))


@step
async def network_can_be_closed(w: World) -> None:
    await do(w.box.update_network({"deny_out": ["0.0.0.0/0"]}))


@step
async def host_of_a_port(w: World) -> None:
    assert w.box.get_host(8000).startswith(f"8000-{w.box.sandbox_id}.")
