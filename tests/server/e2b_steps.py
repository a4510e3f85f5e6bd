"""Steps of E2B's Python SDK, written once for its synchronous and its asynchronous flavor."""

import asyncio
import base64
import datetime
import io
import time
import urllib.error
import urllib.request
import uuid
from typing import Any

import pytest
from e2b import (
    CommandExitException,
    FileNotFoundException,
    FilesystemEventType,
    FileType,
    InvalidArgumentException,
    NotFoundException,
    SandboxException,
    SandboxNotFoundException,
    SandboxQuery,
    SandboxState,
    TemplateException,
    TimeoutException,
)
from e2b.sandbox.commands.command_handle import PtySize
from e2b_code_interpreter.charts import (
    BarChart,
    BoxAndWhiskerChart,
    LineChart,
    PieChart,
    ScatterChart,
    SuperChart,
)

from tests.server.steps import Steps, World, do

STEPS = Steps()
step = STEPS


async def code(w: World, text: str, **options: Any) -> Any:
    return await do(w.box.run_code(text, **options))


async def sh(w: World, text: str, **options: Any) -> Any:
    return await do(w.box.commands.run(text, **options))


# --- the control plane


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


# --- commands


@step
async def command(w: World) -> None:
    result = await sh(w, "echo out; echo err >&2")
    assert ("out\n", "err\n", 0) == (result.stdout, result.stderr, result.exit_code)


@step
async def command_that_fails(w: World) -> None:
    with pytest.raises(CommandExitException) as caught:
        await sh(w, "echo before; exit 3")
    assert (3, "before\n") == (caught.value.exit_code, caught.value.stdout)


@step
async def command_in_a_directory(w: World) -> None:
    assert "/tmp\n" == (await sh(w, "pwd", cwd="/tmp")).stdout


@step
async def command_in_a_missing_directory(w: World) -> None:
    with pytest.raises(SandboxException, match="directory"):
        await sh(w, "pwd", cwd="/no/such")


@step
async def command_with_variables(w: World) -> None:
    result = await sh(w, 'echo "$GIVEN $MORE"', envs={"MORE": "and more"})
    assert "here and more\n" == result.stdout


@step
async def command_at_home(w: World) -> None:
    assert "/home/user /home/user\n" == (await sh(w, "echo $HOME $PWD")).stdout


@step
async def command_with_callbacks(w: World) -> None:
    out: list[str] = []
    err: list[str] = []
    await sh(w, "echo a; echo b >&2", on_stdout=out.append, on_stderr=err.append)
    assert ("a\n", "b\n") == ("".join(out), "".join(err))


@step
async def command_with_much_output(w: World) -> None:
    result = await sh(w, "seq 200000")
    assert (1_288_895, "200000") == (len(result.stdout), result.stdout.split()[-1])


@step
async def command_with_characters_cut_in_two(w: World) -> None:
    result = await sh(w, r"printf '\xc3'; sleep 0.2; printf '\xa9\n'")
    assert "é\n" == result.stdout


@step
async def command_beyond_its_timeout(w: World) -> None:
    with pytest.raises(TimeoutException):
        await sh(w, "sleep 54321", timeout=1)
    for _ in range(50):
        if not (await sh(w, "pgrep -f 'sleep 5432[1]' || true")).stdout:
            return
        await asyncio.sleep(0.1)
    pytest.fail("the program goes on")


@step
async def command_as_another_user(w: World) -> None:
    with pytest.raises(SandboxException, match="one user"):
        await sh(w, "id", user="root")


@step
async def command_as_the_user(w: World) -> None:
    assert "65532\n" == (await sh(w, "id -u", user="user")).stdout


@step
async def command_that_is_killed_by_a_signal(w: World) -> None:
    with pytest.raises(CommandExitException) as caught:
        await sh(w, "kill -9 $$")
    assert -1 == caught.value.exit_code
    assert "signal: killed" == caught.value.error


@step
async def command_in_the_background(w: World) -> None:
    handle = await sh(w, "sleep 0.2; echo done", background=True)
    result = await do(handle.wait())
    assert ("done\n", 0) == (result.stdout, result.exit_code)


@step
async def list_of_commands(w: World) -> None:
    handle = await sh(w, "sleep 600", background=True, envs={"A": "b"}, cwd="/tmp")
    w.held["sleep"] = handle
    (found,) = [one for one in await do(w.box.commands.list()) if one.pid == handle.pid]
    assert ("/bin/bash", ["-l", "-c", "sleep 600"]) == (found.cmd, found.args)
    assert ({"A": "b"}, "/tmp") == (found.envs, found.cwd)


@step
async def kill_of_a_command(w: World) -> None:
    handle = w.held.pop("sleep")
    assert await do(w.box.commands.kill(handle.pid)) is True
    with pytest.raises(CommandExitException) as caught:
        await do(handle.wait())
    assert -1 == caught.value.exit_code


@step
async def kill_of_an_ended_command(w: World) -> None:
    handle = await sh(w, "true", background=True)
    await do(handle.wait())
    assert await do(w.box.commands.kill(handle.pid)) is False


@step
async def kill_of_an_unknown_command(w: World) -> None:
    assert await do(w.box.commands.kill(999_999)) is False


@step
async def kill_ends_descendants(w: World) -> None:
    handle = await sh(w, "sleep 43210 & sleep 43210", background=True)
    await do(handle.kill())
    assert "" == (await sh(w, "pgrep -f 'sleep 4321[0]' || true")).stdout


@step
async def standard_input(w: World) -> None:
    handle = await sh(w, "read line; echo got $line", background=True, stdin=True)
    await do(w.box.commands.send_stdin(handle.pid, "something\n"))
    assert "got something\n" == (await do(handle.wait())).stdout


@step
async def end_of_standard_input(w: World) -> None:
    handle = await sh(w, "cat; echo end", background=True, stdin=True)
    await do(w.box.commands.send_stdin(handle.pid, "text "))
    await do(w.box.commands.close_stdin(handle.pid))
    assert "text end\n" == (await do(handle.wait())).stdout


@step
async def standard_input_is_empty_unless_asked_for(w: World) -> None:
    assert "end\n" == (await sh(w, "cat; echo end", timeout=20)).stdout


@step
async def standard_input_of_an_ended_command(w: World) -> None:
    handle = await sh(w, "true", background=True, stdin=True)
    await do(handle.wait())
    with pytest.raises(NotFoundException):
        await do(w.box.commands.send_stdin(handle.pid, "late"))


@step
async def streamed_standard_input(w: World) -> None:
    handle = await sh(w, "wc -c", background=True, stdin=True)

    if w.is_async:
        stream = w.box.commands.stream_input(handle.pid)
        for _ in range(3):
            await stream.send("12345")
        await stream.close()
    else:
        w.box.commands.stream_input(handle.pid, ["12345"] * 3)
    await do(w.box.commands.close_stdin(handle.pid))
    assert "15" == (await do(handle.wait())).stdout.strip()


@step
async def second_client_of_a_command(w: World) -> None:
    handle = await sh(w, "read x; echo later", background=True, stdin=True)
    other = await do(w.box.commands.connect(handle.pid))
    await do(w.box.commands.send_stdin(handle.pid, "\n"))
    assert "later\n" == (await do(other.wait())).stdout
    await do(handle.wait())


@step
async def command_outlives_its_client(w: World) -> None:
    handle = await sh(w, "sleep 0.5; echo x > /home/user/outlived", background=True)
    await do(handle.disconnect())
    for _ in range(50):
        if await do(w.box.files.exists("/home/user/outlived")):
            return
        await asyncio.sleep(0.1)
    pytest.fail("it was ended with its client")


@step
async def connect_to_an_ended_command(w: World) -> None:
    handle = await sh(w, "exit 0", background=True)
    await do(handle.wait())
    other = await do(w.box.commands.connect(handle.pid))
    assert 0 == (await do(other.wait())).exit_code


@step
async def connect_to_an_unknown_command(w: World) -> None:
    with pytest.raises(NotFoundException):
        await do(w.box.commands.connect(999_999))


# --- terminals


@step
async def terminal(w: World) -> None:
    seen: list[bytes] = []
    size = PtySize(rows=30, cols=100)
    if w.is_async:
        handle = await w.box.pty.create(size, on_data=seen.append, timeout=60)
    else:
        handle = w.box.pty.create(size, timeout=60)
    w.held["pty"], w.held["seen"] = handle, seen
    await do(w.box.pty.send_stdin(handle.pid, b"stty size; tty -s && echo terminal\n"))
    assert handle.pid > 0


@step
async def terminal_changes_its_size(w: World) -> None:
    handle = w.held["pty"]
    await do(w.box.pty.resize(handle.pid, PtySize(rows=40, cols=120)))
    await do(w.box.pty.send_stdin(handle.pid, b"stty size; exit 0\n"))


@step
async def terminal_shows_what_was_typed(w: World) -> None:
    handle, seen = w.held.pop("pty"), w.held.pop("seen")
    if w.is_async:
        await handle.wait()
    else:
        handle.wait(on_pty=seen.append)
    shown = b"".join(bytes(piece) for piece in seen)
    assert b"terminal" in shown
    assert b"40 120" in shown


@step
async def kill_of_a_terminal(w: World) -> None:
    size = PtySize(rows=24, cols=80)
    more = {"on_data": lambda data: None} if w.is_async else {}
    handle = await do(w.box.pty.create(size, timeout=60, **more))
    assert await do(w.box.pty.kill(handle.pid)) is True
    with pytest.raises(CommandExitException):
        await do(handle.wait())


# --- files


@step
async def write_text(w: World) -> None:
    info = await do(w.box.files.write("/home/user/a.txt", "hello"))
    assert ("a.txt", "/home/user/a.txt") == (info.name, info.path)


@step
async def read_text(w: World) -> None:
    assert "hello" == await do(w.box.files.read("/home/user/a.txt"))


@step
async def read_by_relative_path(w: World) -> None:
    assert "hello" == await do(w.box.files.read("a.txt"))


@step
async def write_and_read_bytes(w: World) -> None:
    data = bytes(range(256)) * 10
    await do(w.box.files.write("b.bin", data))
    assert data == bytes(await do(w.box.files.read("b.bin", format="bytes")))


@step
async def write_and_read_megabytes(w: World) -> None:
    data = bytes(range(256)) * (3 << 12)
    await do(w.box.files.write("c.bin", io.BytesIO(data)))
    assert data == bytes(await do(w.box.files.read("c.bin", format="bytes", request_timeout=60)))


@step
async def read_as_a_stream(w: World) -> None:
    reader = await do(w.box.files.read("c.bin", format="stream"))
    size = 0
    if w.is_async:
        async for piece in reader:
            size += len(piece)
    else:
        size = sum(len(piece) for piece in reader)
    assert 3 << 20 == size


@step
async def write_as_gzip(w: World) -> None:
    await do(w.box.files.write("zipped.txt", "text " * 1000, gzip=True))
    assert "text " * 1000 == await do(w.box.files.read("zipped.txt", gzip=True))


@step
async def write_creates_parents(w: World) -> None:
    await do(w.box.files.write("deep/er/file.txt", "x"))
    assert "x" == await do(w.box.files.read("/home/user/deep/er/file.txt"))


@step
async def write_replaces(w: World) -> None:
    await do(w.box.files.write("a.txt", "short"))
    assert "short" == await do(w.box.files.read("a.txt"))


@step
async def write_an_empty_file(w: World) -> None:
    await do(w.box.files.write("empty", ""))
    assert "" == await do(w.box.files.read("empty"))


@step
async def write_several(w: World) -> None:
    files = [{"path": f"many/{n}.txt", "data": str(n)} for n in range(5)]
    found = await do(w.box.files.write_files(files))
    assert [f"/home/user/many/{n}.txt" for n in range(5)] == [info.path for info in found]
    assert "4" == await do(w.box.files.read("many/4.txt"))


@step
async def write_where_it_is_not_allowed(w: World) -> None:
    with pytest.raises(SandboxException):
        await do(w.box.files.write("/etc/passwd", "x"))


@step
async def write_with_a_name_of_many_scripts(w: World) -> None:
    await do(w.box.files.write("naïve 日本 'q'.txt", "ok"))
    assert "ok" == await do(w.box.files.read("naïve 日本 'q'.txt"))


@step
async def write_with_metadata_is_refused(w: World) -> None:
    with pytest.raises(TemplateException):
        await do(w.box.files.write("m.txt", "x", metadata={"a": "b"}))


@step
async def read_a_missing_file(w: World) -> None:
    with pytest.raises(FileNotFoundException):
        await do(w.box.files.read("missing"))


@step
async def read_a_directory(w: World) -> None:
    with pytest.raises(SandboxException, match="is a directory"):
        await do(w.box.files.read("many"))


@step
async def exists(w: World) -> None:
    assert await do(w.box.files.exists("a.txt")) is True
    assert await do(w.box.files.exists("missing")) is False


@step
async def info_of_a_file(w: World) -> None:
    await sh(w, "chmod 640 a.txt")
    info = await do(w.box.files.get_info("a.txt"))
    assert ("a.txt", FileType.FILE, 5) == (info.name, info.type, info.size)
    assert (0o640, "rw-r-----") == (info.mode, info.permissions)
    age = datetime.datetime.now(datetime.UTC) - info.modified_time
    assert abs(age.total_seconds()) < 3600


@step
async def info_of_a_directory(w: World) -> None:
    info = await do(w.box.files.get_info("many"))
    assert (FileType.DIR, "/home/user/many") == (info.type, info.path)


@step
async def info_of_a_link(w: World) -> None:
    await sh(w, "ln -s a.txt link")
    info = await do(w.box.files.get_info("link"))
    assert "a.txt" == info.symlink_target


@step
async def info_of_a_missing_file(w: World) -> None:
    with pytest.raises(FileNotFoundException):
        await do(w.box.files.get_info("missing"))


@step
async def list_a_directory(w: World) -> None:
    found = await do(w.box.files.list("many"))
    assert [f"{n}.txt" for n in range(5)] == [entry.name for entry in found]


@step
async def list_to_a_depth(w: World) -> None:
    found = await do(w.box.files.list("deep", depth=2))
    assert ["/home/user/deep/er", "/home/user/deep/er/file.txt"] == [e.path for e in found]


@step
async def list_a_missing_directory(w: World) -> None:
    with pytest.raises(FileNotFoundException):
        await do(w.box.files.list("missing"))


@step
async def list_with_an_invalid_depth(w: World) -> None:
    with pytest.raises(InvalidArgumentException):
        await do(w.box.files.list("many", depth=0))


@step
async def make_a_directory(w: World) -> None:
    assert await do(w.box.files.make_dir("made/below")) is True


@step
async def make_a_directory_again(w: World) -> None:
    assert await do(w.box.files.make_dir("made/below")) is False


@step
async def rename(w: World) -> None:
    info = await do(w.box.files.rename("a.txt", "made/moved.txt"))
    assert ("moved.txt", "/home/user/made/moved.txt") == (info.name, info.path)
    assert await do(w.box.files.exists("a.txt")) is False


@step
async def rename_a_missing_file(w: World) -> None:
    with pytest.raises(FileNotFoundException):
        await do(w.box.files.rename("missing", "x"))


@step
async def remove(w: World) -> None:
    await do(w.box.files.remove("made"))
    assert await do(w.box.files.exists("made/moved.txt")) is False


@step
async def remove_a_missing_file(w: World) -> None:
    with pytest.raises((FileNotFoundException, NotFoundException)):
        await do(w.box.files.remove("missing"))


@step
async def watch(w: World) -> None:
    await do(w.box.files.make_dir("watched"))
    seen: list[Any] = []
    if w.is_async:
        handle = await w.box.files.watch_dir("watched", seen.append)
    else:
        handle = w.box.files.watch_dir("watched")
    await do(w.box.files.write("watched/new.txt", "x"))
    deadline = time.monotonic() + 20
    while not seen and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
        if not w.is_async:
            seen += handle.get_new_events()
    assert ("new.txt", FilesystemEventType.CREATE) == (seen[0].name, seen[0].type)
    w.held["watch"], w.held["events"] = handle, seen


@step
async def watch_sees_removals(w: World) -> None:
    handle, seen = w.held["watch"], w.held["events"]
    await do(w.box.files.remove("watched/new.txt"))
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not w.is_async:
            seen += handle.get_new_events()
        if any(event.type == FilesystemEventType.REMOVE for event in seen):
            return
        await asyncio.sleep(0.1)
    pytest.fail("the removal was not seen")


@step
async def watch_ends(w: World) -> None:
    handle = w.held.pop("watch")
    await do(handle.stop())
    if not w.is_async:
        with pytest.raises(SandboxException, match="already stopped"):
            handle.get_new_events()


@step
async def watch_below_a_directory(w: World) -> None:
    await do(w.box.files.make_dir("tree/sub"))
    seen: list[Any] = []
    more = {"on_event": seen.append} if w.is_async else {}
    handle = await do(w.box.files.watch_dir("tree", recursive=True, **more))
    await do(w.box.files.write("tree/sub/leaf", "x"))
    deadline = time.monotonic() + 20
    while not seen and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
        if not w.is_async:
            seen += handle.get_new_events()
    assert "sub/leaf" == seen[0].name
    await do(handle.stop())


@step
async def watch_a_missing_directory(w: World) -> None:
    more = {"on_event": lambda event: None} if w.is_async else {}
    with pytest.raises((FileNotFoundException, SandboxException)):
        await do(w.box.files.watch_dir("missing", **more))


# --- signed links


def fetch(url: str, data: bytes | None = None, kind: str = "application/octet-stream") -> bytes:
    asked = urllib.request.Request(url, data)
    if data is not None:
        asked.add_header("Content-Type", kind)
    with urllib.request.urlopen(asked, timeout=20) as answer:
        return bytes(answer.read())


@step
async def link_to_download(w: World) -> None:
    await do(w.box.files.write("linked.txt", "by link"))
    assert b"by link" == fetch(w.box.download_url("linked.txt"))


@step
async def link_that_expires(w: World) -> None:
    url = w.box.download_url("linked.txt", use_signature_expiration=60)
    assert b"by link" == fetch(url)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        fetch(url.replace("signature_expiration=", "signature_expiration=1"))


@step
async def link_that_has_expired(w: World) -> None:
    with pytest.raises(urllib.error.HTTPError, match="401"):
        fetch(w.box.download_url("linked.txt", use_signature_expiration=-5))


@step
async def link_to_upload(w: World) -> None:
    fetch(w.box.upload_url("uploaded.txt"), b"content")
    assert "content" == await do(w.box.files.read("uploaded.txt"))


@step
async def link_with_a_form(w: World) -> None:
    body = (
        b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nform\r\n'
        b"--xyz--\r\n"
    )
    fetch(w.box.upload_url("form.txt"), body, "multipart/form-data; boundary=xyz")
    assert "form" == await do(w.box.files.read("form.txt"))


@step
async def link_for_another_file(w: World) -> None:
    url = w.box.download_url("linked.txt")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        fetch(url.replace("linked.txt", "uploaded.txt"))


@step
async def link_to_download_is_none_to_upload(w: World) -> None:
    with pytest.raises(urllib.error.HTTPError, match="401"):
        fetch(w.box.download_url("linked.txt"), b"x")


# --- code


@step
async def code_prints(w: World) -> None:
    result = await code(w, "print('a'); print('b')")
    assert "a\nb\n" == "".join(result.logs.stdout)
    assert result.error is None


@step
async def code_has_a_value(w: World) -> None:
    assert "3" == (await code(w, "1 + 2")).text


@step
async def code_has_a_text_without_quotes(w: World) -> None:
    assert "plain" == (await code(w, "'plain'")).text


@step
async def code_keeps_variables(w: World) -> None:
    await code(w, "kept = 41")
    assert "42" == (await code(w, "kept + 1")).text


@step
async def code_counts_its_runs(w: World) -> None:
    first = (await code(w, "1")).execution_count
    assert first + 1 == (await code(w, "1")).execution_count


@step
async def code_raises(w: World) -> None:
    result = await code(w, "print('before')\n1/0")
    assert "before\n" == "".join(result.logs.stdout)
    assert ("ZeroDivisionError", "division by zero") == (result.error.name, result.error.value)
    assert "1/0" in result.error.traceback


@step
async def code_with_a_syntax_error(w: World) -> None:
    assert "SyntaxError" == (await code(w, "def")).error.name


@step
async def code_writes_to_both_streams(w: World) -> None:
    result = await code(w, "import sys; print('o'); print('e', file=sys.stderr)")
    assert ("o\n", "e\n") == ("".join(result.logs.stdout), "".join(result.logs.stderr))


@step
async def code_with_callbacks(w: World) -> None:
    out: list[Any] = []
    results: list[Any] = []
    errors: list[Any] = []
    await code(
        w,
        "print('x'); display(5); 1/0",
        on_stdout=out.append,
        on_result=results.append,
        on_error=errors.append,
    )
    assert "x\n" == "".join(message.line for message in out)
    assert out[0].timestamp > 1_700_000_000 * 10**9
    assert ["5"] == [result.text for result in results]
    assert ["ZeroDivisionError"] == [error.name for error in errors]


@step
async def code_output_comes_at_once(w: World) -> None:
    moments: list[float] = []
    text = "import time\nfor n in range(3):\n    print(n, flush=True)\n    time.sleep(0.4)"
    await code(w, text, on_stdout=lambda message: moments.append(time.monotonic()))
    assert moments[-1] - moments[0] > 0.3


@step
async def code_beyond_its_timeout(w: World) -> None:
    with pytest.raises(TimeoutException):
        await code(w, "import time; time.sleep(600)", timeout=1)
    assert "1" == (await code(w, "1", timeout=30)).text


@step
async def code_is_interrupted_with_its_client(w: World) -> None:
    with pytest.raises(TimeoutException):
        await code(w, "interrupted = 1\nwhile True: pass", timeout=1)
    assert "1" == (await code(w, "interrupted", timeout=30)).text


@step
async def code_with_variables_of_its_own(w: World) -> None:
    text = "import os; print(os.environ['GIVEN'], os.environ['CELL'])"
    assert "here v\n" == "".join((await code(w, text, envs={"CELL": "v"})).logs.stdout)
    assert "None" == (await code(w, "repr(os.environ.get('CELL'))")).text


@step
async def code_variables_are_in_no_history(w: World) -> None:
    await code(w, "1", envs={"SECRET_OF_A_CELL": "s3cr3t"})
    assert "False" == (await code(w, "'s3c' + 'r3t' in ''.join(In[:-1])")).text


@step
async def code_shows_a_picture(w: World) -> None:
    text = "import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4])\nplt.show()"
    (result,) = (await code(w, text)).results
    assert base64.b64decode(result.png).startswith(b"\x89PNG")


@step
async def code_shows_a_line_chart(w: World) -> None:
    text = (
        "plt.figure(); plt.plot([1, 2, 3], [4, 5, 6], label='up'); plt.title('T')\n"
        "plt.xlabel('x'); plt.ylabel('y'); plt.show()"
    )
    chart = (await code(w, text)).results[0].chart
    assert isinstance(chart, LineChart)
    assert ("T", "x", "y") == (chart.title, chart.x_label, chart.y_label)
    (line,) = chart.elements
    assert ("up", [(1, 4), (2, 5), (3, 6)]) == (line.label, line.points)


@step
async def code_shows_a_scatter_chart(w: World) -> None:
    chart = (
        (await code(w, "plt.figure(); plt.scatter([1, 2], [3, 4]); plt.show()")).results[0].chart
    )
    assert isinstance(chart, ScatterChart)
    assert [(1, 3), (2, 4)] == chart.elements[0].points


@step
async def code_shows_a_bar_chart(w: World) -> None:
    chart = (
        (await code(w, "plt.figure(); plt.bar(['a', 'b'], [3, 4]); plt.show()")).results[0].chart
    )
    assert isinstance(chart, BarChart)
    assert [("a", 3), ("b", 4)] == [(bar.label, bar.value) for bar in chart.elements]


@step
async def code_shows_a_pie_chart(w: World) -> None:
    text = "plt.figure(); plt.pie([1, 3], labels=['a', 'b']); plt.show()"
    chart = (await code(w, text)).results[0].chart
    assert isinstance(chart, PieChart)
    assert [("a", 90), ("b", 270)] == [(part.label, round(part.angle)) for part in chart.elements]


@step
async def code_shows_a_box_chart(w: World) -> None:
    chart = (
        (await code(w, "plt.figure(); plt.boxplot([[1, 2, 3, 4, 5]]); plt.show()")).results[0].chart
    )
    assert isinstance(chart, BoxAndWhiskerChart)
    (box,) = chart.elements
    assert (1, 2, 3, 4, 5) == (
        *(box.min, box.first_quartile, box.median, box.third_quartile, box.max),
    )


@step
async def code_shows_several_panels(w: World) -> None:
    text = (
        "fig, axes = plt.subplots(1, 2); axes[0].plot([1, 2], [1, 2])\n"
        "axes[1].bar(['a'], [1]); plt.show()"
    )
    chart = (await code(w, text)).results[0].chart
    assert isinstance(chart, SuperChart)
    assert [LineChart, BarChart] == [type(panel) for panel in chart.elements]


@step
async def code_shows_a_table(w: World) -> None:
    text = "import pandas as pd; pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})"
    (result,) = (await code(w, text)).results
    assert "<table" in result.html
    assert {"a": [1, 2], "b": ["x", "y"]} == result.data


@step
async def code_shows_html_markdown_and_latex(w: World) -> None:
    text = (
        "from IPython.display import HTML, Markdown, Latex, JSON, Javascript\n"
        "display(HTML('<b>h</b>'), Markdown('*m*'), Latex('$l$'), JSON({'j': 1}))"
    )
    found = (await code(w, text)).results
    assert "<b>h</b>" == found[0].html
    assert "*m*" == found[1].markdown
    assert "$l$" == found[2].latex
    assert {"j": 1} == found[3].json


@step
async def code_shows_a_type_of_its_own(w: World) -> None:
    text = "display({'application/vnd.mine+json': {'k': 1}, 'text/plain': 'p'}, raw=True)"
    (result,) = (await code(w, text)).results
    assert {"k": 1} == result.extra["application/vnd.mine+json"]


@step
async def code_sees_the_same_files(w: World) -> None:
    await do(w.box.files.write("data.csv", "n\n1\n2\n"))
    assert "3" == (await code(w, "int(pd.read_csv('data.csv').n.sum())")).text


@step
async def code_that_exits(w: World) -> None:
    await code(w, "import sys; sys.exit(0)")
    assert "1" == (await code(w, "1")).text


@step
async def code_that_kills_its_interpreter(w: World) -> None:
    result = await code(w, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert result.error is not None
    assert "1" == (await code(w, "1")).text


@step
async def code_in_an_unknown_language(w: World) -> None:
    with pytest.raises(SandboxException, match="cobol"):
        await code(w, "x", language="cobol")


@step
async def code_in_bash(w: World) -> None:
    await code(w, "shell_variable=5", language="bash")
    result = await code(w, "echo $shell_variable", language="bash")
    assert "5\n" == "".join(result.logs.stdout)


@step
async def code_in_javascript(w: World) -> None:
    await code(w, "const seven = 7", language="js")
    result = await code(w, "console.log(seven)", language="javascript")
    assert "7\n" == "".join(result.logs.stdout)


@step
async def code_in_javascript_with_variables(w: World) -> None:
    result = await code(w, "console.log(process.env.JS)", language="js", envs={"JS": "set"})
    assert "set\n" == "".join(result.logs.stdout)


@step
async def code_in_bash_with_variables(w: World) -> None:
    result = await code(w, "echo $SH; export", language="bash", envs={"SH": "it's"})
    assert "it's\n" in "".join(result.logs.stdout)
    result = await code(w, "echo [$SH]", language="bash")
    assert "[]\n" == "".join(result.logs.stdout)


@step
async def code_in_javascript_that_raises(w: World) -> None:
    result = await code(w, "throw new TypeError('bad')", language="js")
    assert ("TypeError", "bad") == (result.error.name, result.error.value)


# --- contexts


@step
async def create_a_context(w: World) -> None:
    context = w.held["context"] = await do(w.box.create_code_context())
    assert ("python", "/home/user") == (context.language, context.cwd)


@step
async def context_has_variables_of_its_own(w: World) -> None:
    context = w.held["context"]
    await code(w, "own = 1", context=context)
    assert "NameError" == (await code(w, "own")).error.name
    assert "1" == (await code(w, "own", context=context)).text


@step
async def context_shares_the_files(w: World) -> None:
    text = "open('data.csv').read().count('\\n')"
    assert "3" == (await code(w, text, context=w.held["context"])).text


@step
async def context_in_a_directory(w: World) -> None:
    context = await do(w.box.create_code_context(cwd="/home/user/many"))
    assert "/home/user/many" == context.cwd
    assert "/home/user/many" == (await code(w, "import os; os.getcwd()", context=context)).text
    await do(w.box.remove_code_context(context))


@step
async def context_in_a_missing_directory(w: World) -> None:
    with pytest.raises((NotFoundException, SandboxException)):
        await do(w.box.create_code_context(cwd="/no/such"))


@step
async def context_in_javascript(w: World) -> None:
    context = await do(w.box.create_code_context(language="javascript", cwd="/tmp"))
    result = await code(w, "console.log(process.cwd())", context=context)
    assert "/tmp\n" == "".join(result.logs.stdout)
    await do(w.box.remove_code_context(context))


@step
async def contexts_run_side_by_side(w: World) -> None:
    text = (
        "open('here', 'w').write('1')\nimport time\n"
        "while not os.path.exists('there'): time.sleep(0.05)"
    )
    if not w.is_async:
        return
    waiting = asyncio.ensure_future(
        w.box.run_code("import os\n" + text, context=w.held["context"], timeout=30)
    )
    result = await w.box.run_code(
        "import os, time\nwhile not os.path.exists('here'): time.sleep(0.05)\n"
        "open('there', 'w').close(); 'both'",
        timeout=30,
    )
    assert "both" == result.text
    assert (await waiting).error is None


@step
async def list_of_contexts(w: World) -> None:
    found = await do(w.box.list_code_contexts())
    assert w.held["context"].id in [context.id for context in found]
    assert {"python", "bash", "javascript"} <= {context.language for context in found}


@step
async def restart_a_context(w: World) -> None:
    context = w.held["context"]
    await do(w.box.restart_code_context(context))
    assert "NameError" == (await code(w, "own", context=context)).error.name


@step
async def remove_a_context(w: World) -> None:
    context = w.held.pop("context")
    await do(w.box.remove_code_context(context))
    with pytest.raises(NotFoundException):
        await code(w, "1", context=context)


@step
async def remove_an_unknown_context(w: World) -> None:
    with pytest.raises(NotFoundException):
        await do(w.box.remove_code_context("nothing"))


# --- the end


@step
async def wrong_token_for_a_sandbox(w: World) -> None:
    headers = {"X-Access-Token": "0" * 40}
    other = await do(w.kind.connect(w.box.sandbox_id, timeout=10))
    asked = urllib.request.Request(f"{other.envd_api_url}/files?path=a", headers=headers)
    asked.add_header("E2b-Sandbox-Id", other.sandbox_id)
    asked.add_header("E2b-Sandbox-Port", "49983")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        await asyncio.to_thread(urllib.request.urlopen, asked, timeout=20)


@step
async def kill_in_the_middle_of_code(w: World) -> None:
    box = await do(w.kind.create(timeout=60))

    def kill() -> None:
        from e2b_code_interpreter import Sandbox

        Sandbox.kill(box.sandbox_id)

    loop = asyncio.get_running_loop()
    ended = loop.run_in_executor(None, lambda: (time.sleep(1), kill()))
    with pytest.raises(Exception, match=r"(?i)killed|not found|not running|end of life"):
        await do(box.run_code("import time; time.sleep(60)"))
    await ended


@step
async def kill_in_the_middle_of_a_command(w: World) -> None:
    box = await do(w.kind.create(timeout=60))
    handle = await do(box.commands.run("sleep 60", background=True))
    assert await do(box.kill()) is True
    with pytest.raises(Exception, match=r"(?i)killed|not found|not running|end of life|timeout"):
        await do(handle.wait())


@step
async def timeout_ends_a_sandbox(w: World) -> None:
    box = await do(w.kind.create(timeout=1))
    for _ in range(200):
        if not await do(box.is_running()):
            break
        await asyncio.sleep(0.1)
    with pytest.raises((TimeoutException, SandboxException)):
        await do(box.commands.run("true"))
    assert await do(box.kill()) is False


@step
async def kill(w: World) -> None:
    assert await do(w.box.kill()) is True


@step
async def kill_again(w: World) -> None:
    assert await do(w.box.kill()) is False


@step
async def is_running_after_the_end(w: World) -> None:
    assert await do(w.box.is_running()) is False


@step
async def code_after_the_end(w: World) -> None:
    with pytest.raises((TimeoutException, SandboxException)):
        await code(w, "1")


@step
async def files_after_the_end(w: World) -> None:
    with pytest.raises(SandboxException):
        await do(w.box.files.read("a.txt"))
