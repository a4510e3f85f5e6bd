"""Steps of E2B's Python SDK: files, directories and watching."""

import asyncio
import datetime
import io
import time
from typing import Any

import pytest
from e2b import (
    FileNotFoundException,
    FilesystemEventType,
    FileType,
    InvalidArgumentException,
    NotFoundException,
    SandboxException,
    TemplateException,
)

from tests.server.steps import Steps, World, do, sh

STEPS = Steps()
step = STEPS


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
