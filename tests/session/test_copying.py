"""`copy_to_runtime`: paths, bytes and open files, to a name or into a folder."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import ValidationError, create_session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llm_sandbox.session.session import BaseSession


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap", start="cold") as session:
        session.sandbox.files.mkdir("folder")
        yield session


@pytest.mark.parametrize(
    ("dest", "where"),
    [
        ("data.csv", "data.csv"),
        ("folder/other.csv", "folder/other.csv"),
        ("folder", "folder/own.csv"),
        ("folder/", "folder/own.csv"),
        (".", "own.csv"),
        ("/tmp", "/tmp/own.csv"),
        ("/tmp/", "/tmp/own.csv"),
    ],
)
def test_a_file(session: BaseSession, tmp_path: Path, dest: str, where: str) -> None:
    source = tmp_path / "own.csv"
    source.write_bytes(b"a,b\n1,2\n")
    for given in (source, str(source)):
        session.copy_to_runtime(given, dest)
        assert session.sandbox.files.read_bytes(where) == b"a,b\n1,2\n"
        session.sandbox.files.remove(where)
    with source.open("rb") as file:
        session.copy_to_runtime(file, dest)
    assert session.sandbox.files.read_bytes(where) == b"a,b\n1,2\n"
    session.sandbox.files.remove(where)


def test_bytes(session: BaseSession) -> None:
    for given in (b"\0\xff", bytearray(b"\0\xff"), memoryview(b"\0\xff"), io.BytesIO(b"\0\xff")):
        session.copy_to_runtime(given, "raw")
        assert session.sandbox.files.read_bytes("raw") == b"\0\xff"
        with pytest.raises(ValidationError, match="no name"):
            session.copy_to_runtime(given, "folder")


def test_a_directory_becomes_its_target(session: BaseSession, tmp_path: Path) -> None:
    (tmp_path / "inner").write_text("i")
    session.copy_to_runtime(tmp_path, "whole")
    session.copy_to_runtime(tmp_path, "whole")
    assert session.sandbox.files.read_text("whole/inner") == "i"


def test_what_cannot_be_copied(session: BaseSession) -> None:
    with pytest.raises(ValidationError, match="expected a file of bytes"):
        session.copy_to_runtime(io.StringIO("text"), "text")  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="got int"):
        session.copy_to_runtime(3, "three")  # type: ignore[arg-type]
