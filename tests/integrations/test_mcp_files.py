"""Files of the MCP server's sandboxes, uploaded and downloaded."""

import base64
import contextlib
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import ListRootsResult, Root

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.mcp import ServerOptions
from llm_sandbox.integrations.mcp.http import make_app
from llm_sandbox.mounts import Bind
from tests.integrations.mcp_servers import command, environment, in_process, over_stdio, text_of
from tests.integrations.test_mcp_config import blocks, configured

PNG = b"\x89PNG\r\n\x1a\n"
DRAW = "import matplotlib.pyplot as plt\nplt.plot([1, 4])\nplt.savefig('drawn.png')"

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of this computer with data, that everybody may read."""
    data = tmp_path / "measured"
    data.mkdir(mode=0o755)
    (data / "table.csv").write_text("a,b\n1,2\n")
    return data


async def test_files_and_mounts_of_the_command_line(folder: Path) -> None:
    """Each sandbox has a copy of the one, and sees the other as it is, read-only."""
    words = ["--file", f"{folder / 'table.csv'}:in/data.csv", "--mount", f"{folder}:/data"]
    async with over_stdio(*words) as client:
        assert "in/data.csv" in (client.instructions or "")
        assert "/data" in (client.instructions or "")
        read = await client.call_tool("read_file", {"path": "in/data.csv"})
        assert read.content[0].text == "a,b\n1,2\n"
        (folder / "later.txt").write_text("later")
        later = await client.call_tool("read_file", {"path": "/data/later.txt"})
        assert later.content[0].text == "later"
        changed = await client.call_tool("write_file", {"path": "/data/new", "content": "x"})
        assert changed.is_error
        assert not (folder / "new").exists()
        other = text_of(await client.call_tool("create_session", {})).removeprefix("session: ")
        there = {"path": "in/data.csv", "session": other}
        assert (await client.call_tool("read_file", there)).content[0].text == "a,b\n1,2\n"


async def test_a_mount_is_writable_only_if_it_says_so(folder: Path) -> None:
    async with over_stdio("--mount", f"{folder}:/data:rw") as client:
        wrote = await client.call_tool("write_file", {"path": "/data/new", "content": "x"})
        assert not wrote.is_error, text_of(wrote)
    assert (folder / "new").read_text() == "x"


def test_paths_in_the_configuration_are_whole(folder: Path) -> None:
    """A client starts the server in a folder of its own."""
    given = ["--config", "--backend", "bubblewrap", "--file", "table.csv:t.csv"]
    given += ["--mount", ".:/data:rw", "--roots"]
    done = configured(folder, *given)
    assert done.returncode == 0, done.stderr
    words = blocks(done.stdout)["Claude Desktop"]["mcpServers"]["llm-sandbox"]["args"]
    assert f"{folder / 'table.csv'}:t.csv" in words
    assert f"{folder}:/data:rw" in words
    assert "--roots" in words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--file", "nosuch.csv"], "there is no nosuch.csv"),
        (["--mount", "nosuch:/data"], "there is no nosuch"),
        (["--mount", "table.csv"], "HOST:PATH"),
        (["--backend", "bubblewrap", "--mount", "/etc:/data"], "/etc"),
        (["--roots", "--transport", "http"], "--mount HOST:PATH"),
    ],
)
def test_what_cannot_be_given_is_refused_at_the_start(
    words: list[str], said: str, folder: Path
) -> None:
    done = configured(folder, *words)
    assert done.returncode in (2, 125), done.stdout
    assert said in done.stderr


async def roots_of(client: Client) -> str:
    """What a sandbox of the client sees of its roots."""
    code = "import glob; print(sorted(glob.glob('/roots/*/*')))"
    return text_of(await client.call_tool("run_code", {"code": code}))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_roots_of_a_client_are_seen_if_the_server_takes_them(folder: Path, mode: Any) -> None:
    """Read-only; without the option, or from a client that has none, nothing is."""

    async def roots(_: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=folder.as_uri(), name="data")])

    def server(*words: str) -> Any:
        argv = command(*words)
        return stdio_client(
            StdioServerParameters(command=sys.executable, args=argv, env=environment(), cwd="/")
        )

    async with Client(server("--roots"), mode=mode, list_roots_callback=roots) as client:
        assert "['/roots/measured/table.csv']" in await roots_of(client)
        asked = {"path": "/roots/measured/new", "content": "x"}
        assert (await client.call_tool("write_file", asked)).is_error
        made = text_of(await client.call_tool("create_session", {})).removeprefix("session: ")
        listed = await client.call_tool("list_files", {"path": "/roots", "session": made})
        assert "measured" in text_of(listed)
    odd = ["file:///etc", "file://elsewhere/data", "file:///nosuch"]

    async def refused(_: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=uri) for uri in odd])

    async with Client(server("--roots"), mode=mode, list_roots_callback=refused) as client:
        said = await roots_of(client)
        assert "[]" in said
        assert all(f"The root {uri} is not seen" in said for uri in odd)
    async with Client(server(), mode=mode, list_roots_callback=roots) as client:
        assert "[]" in await roots_of(client)
    async with Client(server("--roots"), mode=mode) as client:
        assert "[]" in await roots_of(client)


def test_roots_are_refused_over_http() -> None:
    """They are folders of the client's computer."""
    with pytest.raises(ValidationError, match="may be another one"):
        make_app(ServerOptions(backend="bubblewrap", takes_roots=True))


async def test_bytes_are_written_and_read() -> None:
    """As base64 in pieces; what is no text comes back as a resource, and a picture to be seen."""
    data = bytes(range(256))
    async with in_process() as client:
        for number, piece in enumerate((data[:100], data[100:])):
            content = base64.b64encode(piece).decode()
            asked = {"path": "d/b.bin", "content": content, "encoding": "base64"}
            done = await client.call_tool("write_file", {**asked, "append": number > 0})
            assert not done.is_error, text_of(done)
        read = await client.call_tool("read_file", {"path": "d/b.bin"})
        (found,) = [part for part in read.content if part.type == "resource"]
        assert base64.b64decode(found.resource.blob) == data
        again = await client.read_resource(found.resource.uri)
        assert base64.b64decode(again.contents[0].blob) == data
        wrong = {"path": "x", "content": "no base64!", "encoding": "base64"}
        assert "not valid base64" in text_of(await client.call_tool("write_file", wrong))
        wrong = {"path": "x", "content": "\ud800"}
        with contextlib.suppress(ValueError):  # a client may refuse to send it
            assert "not valid text" in text_of(await client.call_tool("write_file", wrong))

        await client.call_tool("run_code", {"code": DRAW})
        drawn = await client.call_tool("read_file", {"path": "drawn.png"})
        (picture,) = [part for part in drawn.content if part.type == "image"]
        assert picture.mime_type == "image/png"
        assert base64.b64decode(picture.data).startswith(PNG)
        # What only calls itself a picture would be refused by the APIs of models.
        await client.call_tool("run_code", {"code": "open('f.png', 'wb').write(bytes(9))"})
        fake = await client.call_tool("read_file", {"path": "f.png"})
        assert [part.type for part in fake.content] == ["text", "resource", "text"]


async def test_a_long_text_is_read_in_pages() -> None:
    async with in_process() as client:
        await client.call_tool("write_file", {"path": "long.txt", "content": "0123456789" * 100})
        page = await client.call_tool("read_file", {"path": "long.txt", "offset": 5, "limit": 10})
        assert page.content[0].text == "5678901234\n[985 more characters; offset=15 goes on]"
        end = await client.call_tool("read_file", {"path": "long.txt", "offset": 995})
        assert end.content[0].text == "56789"


async def test_a_large_file_is_a_link_whose_resource_has_it() -> None:
    async with in_process() as client:
        code = "open('big.bin', 'wb').write(bytes(3_000_000))"
        await client.call_tool("run_code", {"code": code})
        read = await client.call_tool("read_file", {"path": "big.bin"})
        (link,) = [part for part in read.content if part.type == "resource_link"]
        assert link.size == 3_000_000
        content = (await client.read_resource(link.uri)).contents[0]
        assert len(base64.b64decode(content.blob)) == 3_000_000


async def test_resources_are_listed_and_read() -> None:
    """Artifacts and files of the working directory, each as what it is; nothing before a run."""
    async with in_process() as client:
        assert (await client.list_resources()).resources == []
        name = "ta ble ä.csv"
        await client.call_tool("write_file", {"path": name, "content": "a,b\n"})
        await client.call_tool("write_file", {"path": "/tmp/out.txt", "content": "outside"})
        drawn = await client.call_tool("run_code", {"code": DRAW})
        listed = {str(item.uri): item for item in (await client.list_resources()).resources}
        files = [uri for uri in listed if "/files/" in uri]
        assert sorted(listed[uri].name for uri in files) == ["drawn.png", name]
        assert drawn.structured_content["artifacts"][0]["uri"] in listed
        for uri, item in listed.items():
            content = (await client.read_resource(uri)).contents[0]
            assert content.mime_type == item.mime_type
            if item.name == name:
                assert content.text == "a,b\n"
            else:
                assert base64.b64decode(content.blob).startswith(PNG)
        session = drawn.structured_content["session"]
        outside = await client.read_resource(f"sandbox://{session}/files//tmp/out.txt")
        assert outside.contents[0].text == "outside"


async def test_names_from_inside_are_harmless() -> None:
    """Bytes that are no text, and control characters, are listed; the file can still be read."""
    code = "open(b'\\xff\\x1b[31mred.txt', 'w').write('1')"
    async with in_process() as client:
        await client.call_tool("run_code", {"code": code})
        listed = text_of(await client.call_tool("list_files", {}))
        assert "red.txt" in listed
        assert "\x1b" not in listed
        names = [item.name for item in (await client.list_resources()).resources]
        assert all("\x1b" not in name for name in names)


async def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    """The sandbox is not left behind half made."""
    gone = folder / "table.csv"
    options = ServerOptions(
        backend="bubblewrap", files=((gone, "t.csv"),), mounts={"/data": Bind(folder)}
    )
    async with in_process(options) as client:
        gone.unlink()
        refused = await client.call_tool("run_code", {"code": "1"})
        assert refused.is_error
        assert str(gone) in text_of(refused)
