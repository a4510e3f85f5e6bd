"""Reading what a program writes: by lines and by pieces, as text and as bytes, awaited or not."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from llm_sandbox import PIPE, Sandbox, Terminal, aio
from tests.processes.conftest import WAIT_S

CASES = {
    "nothing": b"",
    "a lone newline": b"\n",
    "carriage returns end no line": b"a\rb\r\nc\r",
    "a last line without newline": b"one\n\nlast",
    "characters of more bytes": "é漢🙂\n🙂".encode(),
    "what is no text": b"\xff\xfe\n\xe6\xbc\nend\xf0\x9f",
    "other line ends": "a\u2028b\x0bc\x85d\n".encode("utf-8"),
}


@pytest.mark.parametrize("data", CASES.values(), ids=CASES)
def test_lines_and_pieces_are_what_was_written(sandbox: Sandbox, data: bytes) -> None:
    """Whatever way it is read, again and again; awaited, it is the same."""
    stream = sandbox.exec("cat", stdin=data).stdout
    text = data.decode("utf-8", "backslashreplace")
    lines = text.split("\n")
    expected: dict[str, Any] = {
        "chunks": text,
        "chunks of bytes": data,
        "lines": lines[:-1] if text.endswith("\n") or not text else lines,
        "lines of bytes": data.split(b"\n")[: None if data and data[-1:] != b"\n" else -1],
        "as a file": [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line],
    }

    for _ in range(2):
        assert {
            "chunks": "".join(stream.chunks()),
            "chunks of bytes": b"".join(stream.chunks(text=False)),
            "lines": list(stream.lines()),
            "lines of bytes": list(stream.lines(text=False)),
            "as a file": list(stream),
        } == expected

    async def awaited() -> dict[str, Any]:
        twin = aio.AsyncOutputStream(stream)
        return {
            "chunks": "".join([piece async for piece in twin.chunks()]),
            "chunks of bytes": b"".join([piece async for piece in twin.chunks(text=False)]),
            "lines": [line async for line in twin.lines()],
            "lines of bytes": [line async for line in twin.lines(text=False)],
            "as a file": [line async for line in twin],
        }

    assert anyio.run(awaited) == expected


def test_a_split_character_is_one(sandbox: Sandbox) -> None:
    """Its bytes come one by one; no piece of text has a part of it, and bytes come as they are."""
    process = sandbox.exec("cat", stdin=PIPE)
    assert process.stdin is not None
    pieces, raw = process.stdout.chunks(), process.stdout.chunks(text=False)
    character = "🙂".encode()
    got = []
    for number in range(4):
        process.stdin.write(character[number : number + 1])
        got.append(next(raw))
    process.stdin.write("!\nrest")
    assert got == [character[number : number + 1] for number in range(4)]
    assert next(pieces).startswith("🙂")
    assert next(iter(process.stdout)) == "🙂!\n"
    process.stdin.write_eof()
    assert list(process.stdout.lines()) == ["🙂!", "rest"]


def test_a_terminal_is_used_from_async_code() -> None:
    async def main() -> None:
        async with await aio.AsyncSandbox.create(backend="bubblewrap") as sandbox:
            process = await sandbox.exec(
                *("sh", "-c", "stty size; read line; stty size; exit 4"),
                stdin=PIPE,
                pty=Terminal(10, 20),
            )
            assert process.stdin is not None
            heard = []
            async for line in process.stdout:
                heard.append(line)
                if len(heard) == 1:
                    assert await process.resize(30, 40)
                    await process.stdin.write("\n")
            assert heard == ["10 20\r\n", "\r\n", "30 40\r\n"]
            assert await process.wait(WAIT_S) == 4
            both = await sandbox.sh("echo out; echo err >&2", stderr="stdout")
            assert (await both.collect()).stdout == "out\nerr\n"

    anyio.run(main)
