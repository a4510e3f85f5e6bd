"""`llm-sandbox start, ps, logs, exec, cp, stop, gc`: sandboxes that outlive the command."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow


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


def test_gc_forgets_what_a_killed_daemon_left(kept: Callable[..., Any], tmp_path: Path) -> None:
    sandbox = kept("start", "-b", "bubblewrap").out.strip()
    folder = tmp_path / "state" / "llm-sandbox" / "kept"
    daemon = json.loads((folder / f"{sandbox}.json").read_text())["daemon"]
    subprocess.run([sys.executable, "-c", f"import os; os.kill({daemon}, 9)"], check=True,
                   cwd=ROOT, env=environment())  # fmt: skip
    cleaned = kept("gc", "--json")
    assert json.loads(cleaned.out)["kept"] == [sandbox]
    assert [one.name for one in folder.iterdir()] == ["registry.lock"]


def test_what_an_ended_one_wrote_is_kept_for_a_while(
    kept: Callable[..., Any], tmp_path: Path
) -> None:
    """Its logs can be read by name and by id, without what was a secret, by its user alone."""
    command = ("start", "-b", "bubblewrap", "-n", "short", "--", "sh", "-c")
    sandbox = kept(*command, "echo said; echo odd >&2; exit 4").out.strip()
    end = time.monotonic() + 20
    while _ids(kept) and time.monotonic() < end:
        time.sleep(0.1)
    for which in ("short", sandbox, sandbox[:12]):
        said = kept("logs", which)
        assert (said.code, said.out, said.err) == (0, "said\n", "odd\n")
    written = tmp_path / "state" / "llm-sandbox" / "kept" / f"{sandbox}.out"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    again = kept(*command, "echo new; sleep 60").out.strip()
    assert kept("logs", "short").out == "new\n"
    assert kept("logs", sandbox).out == "said\n"
    assert kept("stop", "short").out.endswith(f"{again}\n")
    assert kept("logs", "short").out == "said\n"
    gone = kept("logs", "never")
    assert (gone.code, gone.out) == (125, "")


def test_names_that_there_are_not_end_alike(kept: Callable[..., Any]) -> None:
    """One exit code for a sandbox, a snapshot, a volume and a secret that is not there."""
    for words in (
        ("logs", "nothing"),
        ("exec", "nothing", "true"),
        ("stop", "nothing"),
        ("snapshots", "delete", "nothing"),
        ("volumes", "delete", "nothing"),
        ("secret", "delete", "nothing"),
    ):
        done = kept(*words)
        assert done.code == 125, words
        assert "nothing" in done.err


def test_programs_that_do_not_start_end_as_in_a_shell(kept: Callable[..., Any]) -> None:
    kept("start", "-b", "bubblewrap", "-n", "one")
    missing = kept("exec", "one", "no-such-program")
    assert (missing.code, "no-such-program" in missing.err) == (127, True)
    assert kept("exec", "one", "/etc/passwd").code == 126
    assert kept("exec", "one", "sh", "-c", "exit 7").code == 7


def test_absent_engines_are_for_who_asks(kept: Callable[..., Any]) -> None:
    """What is not installed is said by `-v`, or when it is named."""
    nowhere = {"DOCKER_HOST": "unix:///nowhere.sock", "CONTAINER_HOST": "unix:///nowhere.sock"}
    quiet = kept("ps", **nowhere)
    assert (quiet.code, quiet.out, quiet.err) == (0, "no sandboxes\n", "")
    asked = kept("ps", "-v", **nowhere)
    assert "docker was left out" in asked.err
    assert "listed nowhere" in asked.err
    named = kept("ps", "--engine", "docker", **nowhere)
    assert (named.code, "docker was left out" in named.err) == (1, True)
    assert kept("gc", "--dry-run", **nowhere).err == ""
