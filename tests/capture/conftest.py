"""Fixtures that run programs under the shim."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
MAGIC = {
    "image/png": ("png", b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": ("jpeg", b"\xff\xd8\xff"),
    "application/pdf": ("pdf", b"%PDF-"),
    "image/svg+xml": ("svg", b"<?xml"),
}


def formats(data: dict[str, Any]) -> str:
    """Name the formats of a bundle, after a look at their first bytes."""
    names = []
    for mime, (name, magic) in MAGIC.items():
        if mime in data:
            value = data[mime]
            raw = value.encode() if name == "svg" else base64.b64decode(value, validate=True)
            assert raw.startswith(magic), (mime, raw[:20])
            names.append(name)
    if "text/html" in data and "application/vnd.plotly.v1+json" in data:
        assert data["text/html"].lower().startswith(("<!doctype html", "<html"))
        assert "cdn" in data["text/html"]
        assert len(data["text/html"]) < 100_000
        assert data["application/vnd.plotly.v1+json"]["data"] is not None
        names.append("html")
    return "+".join(names)


def list_plots(answer: dict[str, Any]) -> list[str]:
    """List the plots of an answer as ``format@event`` in their order."""
    found = []
    for record in answer["records"]:
        about = (record["metadata"] or {}).get("llm_sandbox", {})
        if about.get("kind") == "plot":
            assert "text/plain" in record["data"]
            assert len(record["data"]["text/plain"]) < 200
            found.append(f"{formats(record['data'])}@{about['event']}")
        else:
            assert "image/png" not in record["data"], record
    return found


class Zygote:
    """A driver process."""

    def __init__(self, *arguments: str) -> None:
        environment = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        environment.pop("DISPLAY", None)
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "driver.py"), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def run(self, *cells: str) -> dict[str, Any]:
        """Run cells in a fresh fork."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"cells": cells}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert "crash" not in answer, answer["crash"]
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture(scope="session", params=["cold", "preload"])
def zygote(request: pytest.FixtureRequest) -> Iterator[Zygote]:
    """A zygote without libraries, and one with all of them loaded before its shell."""
    process = Zygote(request.param)
    yield process
    process.close()


@pytest.fixture(scope="session")
def cold() -> Iterator[Zygote]:
    """A zygote that has loaded nothing."""
    process = Zygote("cold")
    yield process
    process.close()


@pytest.fixture(scope="session")
def plots() -> Callable[[dict[str, Any]], list[str]]:
    """The reader of answers."""
    return list_plots
