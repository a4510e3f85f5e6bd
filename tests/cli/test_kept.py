"""`llm-sandbox start, ps, logs, exec, cp, stop, gc`: sandboxes that outlive the command."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def kept(cli: Callable[..., Any], tmp_path: Path, isolation: None) -> Iterator[Callable[..., Any]]:
    """Run a command with a registry of the test's own, in which nothing is left."""
    state = str(tmp_path / "state")

    def run(*words: str, **options: Any) -> Any:
        return cli(*words, XDG_STATE_HOME=state, **options)

    yield run
    run("stop", "--all") if _ids(run) else None
    assert _ids(run) == []


def _ids(run: Callable[..., Any]) -> list[str]:
    return [one["id"] for one in json.loads(run("ps", "--json").out)["kept"]]


def test_a_sandbox_from_start_to_stop(kept: Callable[..., Any], tmp_path: Path) -> None:
    began = kept(
        *("start", "-b", "bubblewrap", "-n", "web", "--tag", "team=a", "-t", "300"),
        *("-e", "WORD=given", "--", "sh", "-c", "echo began; echo odd >&2; read word; echo $word"),
    )
    assert began.code == 0, began.err
    sandbox = began.out.strip()
    assert sandbox.startswith("sb-")
    listed = kept("ps")
    assert "web" in listed.out
    assert "team=a" in listed.out
    (one,) = json.loads(kept("ps", "--json").out)["kept"]
    assert (one["id"], one["name"], one["command"]) == (sandbox, "web", "sh")

    said = kept("logs", "web")
    assert (said.out, said.err) == ("began\n", "odd\n")
    done = kept("exec", "web", "--", "sh", "-c", "echo $WORD; echo bad >&2; exit 3")
    assert (done.code, done.out, done.err) == (3, "given\n", "bad\n")
    assert kept("exec", "-i", sandbox, "cat", stdin="typed").out == "typed"
    assert kept("exec", sandbox[:10], "cat", "-").code == 0

    (tmp_path / "here.txt").write_text("content")
    assert kept("cp", "here.txt", "web:there.txt").code == 0
    assert kept("cp", "here.txt", "web:folder/").code == 0
    assert kept("exec", "web", "cat", "there.txt", "folder/here.txt").out == "contentcontent"
    assert kept("cp", "web:there.txt", "back.txt").code == 0
    assert (tmp_path / "back.txt").read_text() == "content"

    process = kept("exec", "-d", "web", "sh", "-c", "echo from afar").out.strip()
    assert kept("logs", "-f", "web", "--process", process).out == "from afar\n"
    assert kept("stop", "web").out == f"ended bubblewrap sandbox {sandbox}\n"
    gone = kept("exec", "web", "true")
    assert gone.code == 125
    assert "web" in gone.err


def test_mistakes_are_told(kept: Callable[..., Any], tmp_path: Path) -> None:
    assert kept("start", "-b", "bubblewrap", "-n", "a/b").code == 2
    assert kept("start", "-b", "bubblewrap", "--tag", "x").code == 2
    assert kept("start", "-b", "bubblewrap", "-n", "taken").code == 0
    again = kept("start", "-b", "bubblewrap", "-n", "taken")
    assert again.code == 125
    assert "taken" in again.err
    assert kept("logs", "taken").code == 2
    assert kept("cp", "a", "b").code == 2
    missing = kept("cp", "no-such-file", "taken:x")
    assert missing.code == 2
    assert "no-such-file" in missing.err


def test_gc_forgets_what_a_killed_keeper_left(kept: Callable[..., Any], tmp_path: Path) -> None:
    sandbox = kept("start", "-b", "bubblewrap").out.strip()
    folder = tmp_path / "state" / "llm-sandbox" / "kept"
    keeper = json.loads((folder / f"{sandbox}.json").read_text())["keeper"]
    subprocess.run([sys.executable, "-c", f"import os; os.kill({keeper}, 9)"], check=True,
                   cwd=ROOT, env=environment())  # fmt: skip
    cleaned = kept("gc", "--json")
    assert json.loads(cleaned.out)["kept"] == [sandbox]
    assert [one.name for one in folder.iterdir()] == ["registry.lock"]
