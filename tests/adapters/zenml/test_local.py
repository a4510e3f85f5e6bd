"""Behaviour of local sessions only."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox.adapters.zenml import LocalSandboxSettings
from tests.adapters.zenml.conftest import ROOT, component, run, until


def test_local_session_is_not_attached_to() -> None:
    made = component()
    with made.create_session() as session, pytest.raises(NotImplementedError, match="attach"):
        made.attach(session.id)


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARENT_SECRET", "s3cr3t")
    monkeypatch.setenv("PARENT_OTHER", "other")
    monkeypatch.setenv("TERM", "of-the-parent")


@pytest.mark.usefixtures("parent")
@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        (None, "[][][of-the-parent]"),
        (True, "[s3cr3t][other][of-the-parent]"),
        (False, "[][][dumb]"),
        (["PARENT_OTHER", "NO_SUCH_ONE"], "[][other][dumb]"),
    ],
)
def test_which_variables_of_this_process_a_local_session_has(forward: Any, expected: str) -> None:
    given = {} if forward is None else {"forward_env": forward}
    with component().create_session(LocalSandboxSettings(**given)) as session:
        said = run(session, 'printf "[$PARENT_SECRET][$PARENT_OTHER][$TERM]"')
        path = run(session, 'printf "$PATH"')
    assert expected == said
    forwards = forward is None or forward is True
    assert (os.environ["PATH"] if forwards else os.defpath) == path


def test_local_session_keeps_to_its_directory(tmp_path: Path) -> None:
    source = tmp_path / "file"
    source.write_text("text")
    with component().create_session() as session:
        home = Path(run(session, "pwd").strip())
        run(session, f"ln -s {tmp_path} out")
        for path in ("../up", "/etc/hostname", str(source), "out/file", "a/../../up"):
            with pytest.raises(ValueError, match="working directory"):
                session.upload_file(str(source), path)
            with pytest.raises(ValueError, match="working directory"):
                session.download_file(path, str(tmp_path / "back"))
        assert "text" == source.read_text()
        assert home.is_dir()
    assert not home.exists()


def test_end_of_a_local_session_is_the_end_of_its_processes() -> None:
    session = component().create_session()
    process = session.exec(["sh", "-c", "trap '' TERM; setsid sleep 600 & echo $!; wait"])
    pid = int(next(process.stdout()))
    session.close()
    assert 137 == process.wait(30)
    assert until(lambda: not Path(f"/proc/{pid}").exists())


def test_local_session_says_that_it_does_not_isolate(caplog: pytest.LogCaptureFixture) -> None:
    made = component()
    for _ in range(2):
        with made.create_session():
            pass
    assert 2 == sum("does not isolate" in text for text in caplog.messages)


def test_process_that_forgets_to_close_leaves_no_directory() -> None:
    code = """
    from tests.adapters.zenml.conftest import component
    session = component().create_session()
    session.exec(["sleep", "600"])
    print(session.exec("pwd").collect().stdout, end="")
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    home = Path(done.stdout.strip())
    assert home.name.startswith("llm-sandbox-zenml-"), done
    assert until(lambda: not home.exists())
