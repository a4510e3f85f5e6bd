"""Results on a terminal, and pictures in it."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from llm_sandbox.results.tables import Table
from llm_sandbox.views.inline_images import detect_protocol, encode_image
from llm_sandbox.views.terminal import render

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.views.conftest import Run  # for the type checker only


def printed(result: Any, *, terminal: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=100, color_system=None)
    console.print(render(result))
    return file.getvalue()


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_SANDBOX_IMAGES", "never")


def test_outputs_in_order(run: type[Run]) -> None:
    """Streams, values, files and the end are printed in order, without control sequences."""
    made = run().out("a\x1b[2Jb\n").value("[bold]42[/bold]").file("out.csv", b"a,b\n")
    text = printed(made.fail("ValueError", "bad\x07").result())
    lines = [line.rstrip() for line in text.splitlines()]
    assert ["ab", "[bold]42[/bold]"] == lines[:2]
    assert "ValueError: bad" in lines
    assert any("out.csv" in line and "4 bytes" in line for line in lines)
    assert "status: error, exit code 1" == lines[-1]
    assert "\x1b" not in text


def test_table_is_drawn(run: type[Run]) -> None:
    """A table is drawn with both ends and its size; what its cells hold stays text."""
    columns = [{"name": "n\x1b[31m", "type": "integer", "dtype": "int64", "role": "value"}]
    record = {"version": 1, "library": "pandas", "name": None, "columns": columns}
    record |= {"shape": [1000, 1], "handle": ""}
    record |= {"head": [[i] for i in range(50)], "tail": [[i] for i in range(950, 1000)]}
    made = run().show({}, "table", "text/plain", b"t", table=Table.from_record(record))
    text = printed(made.result())
    assert "1,000 rows x 1 columns" in text
    cells = [line.strip("│ ") for line in text.splitlines() if line.startswith("│")]
    assert [*map(str, range(10)), "...", *map(str, range(990, 1000))] == cells
    assert "\x1b" not in text


def test_pictures(
    run: type[Run], picture: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture is one line, and on a terminal that can show it, itself as well."""
    result = run().picture().result()
    monkeypatch.setenv("LLM_SANDBOX_IMAGES", "iterm")
    encoded = base64.b64encode(picture()).decode()
    assert encoded in printed(result, terminal=True)
    assert encoded not in printed(result)
    monkeypatch.setenv("LLM_SANDBOX_IMAGES", "never")
    text = printed(result, terminal=True)
    assert encoded not in text
    assert "image/png, 64 x 48" in text


@pytest.mark.parametrize(
    ("environment", "protocol"),
    [
        ({}, None),
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"KITTY_WINDOW_ID": "1", "LLM_SANDBOX_IMAGES": "never"}, None),
        ({"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/t"}, None),
        ({"TERM_PROGRAM": "iTerm.app"}, "iterm"),
        ({"TERM_PROGRAM": "Apple_Terminal"}, None),
        ({"LLM_SANDBOX_IMAGES": "kitty", "TMUX": "1"}, "kitty"),
    ],
    ids=str,
)
def test_detection(environment: dict[str, str], protocol: str | None) -> None:
    """The environment says what a terminal can, and the user's word comes first."""
    assert protocol == detect_protocol(environment)


def test_kitty_sequence(picture: Callable[..., bytes]) -> None:
    """A large picture is sent in pieces that together are the file."""
    noise = picture(400, 300)
    data = noise[:-12] + b"\x00" * 9000 + noise[-12:]
    sequence = encode_image(data, "kitty")
    assert sequence is not None
    pieces = [piece.removeprefix("\x1b_G") for piece in sequence.split("\x1b\\")[:-1]]
    keys, texts = zip(*(piece.split(";") for piece in pieces), strict=True)
    assert "a=T,f=100,q=2,m=1" == keys[0]
    assert ("m=1",) * (len(keys) - 2) == keys[1:-1]
    assert "m=0" == keys[-1]
    assert data == base64.b64decode("".join(texts))
    assert max(map(len, texts)) <= 4096


@pytest.mark.parametrize("data", [b"", b"<svg/>", b"\x89PNG\r\n\x1a\n", b"GIF89a\x01\x00\x01\x00"])
def test_not_shown(data: bytes) -> None:
    """What is no whole PNG or JPEG with a size is not sent to the terminal."""
    assert encode_image(data, "iterm") is None


def test_bomb_is_not_shown(picture: Callable[..., bytes]) -> None:
    """A small file that claims an enormous picture is not sent to the terminal."""
    data = bytearray(picture())
    data[16:24] = (60_000).to_bytes(4, "big") * 2
    assert encode_image(bytes(data), "kitty") is None
