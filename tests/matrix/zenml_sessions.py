"""ZenML's sessions and processes, tried on each flavor."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from llm_sandbox.adapters import zenml
from llm_sandbox.exceptions import SandboxNotFoundError
from tests.matrix.zenml_probes import WORDS, Zenml, probe


@probe("session-exec-command")
def exec_command(face: Zenml) -> None:
    """A list is taken as it is; text is split, and no shell expands it."""
    listed = face.session.exec(["printf", "%s|", "a b", "$HOME"]).collect()
    split = face.session.exec("printf '%s|' 'a b' $HOME").collect()
    assert "a b|$HOME|" == listed.stdout == split.stdout


@probe("session-exec-cwd")
def exec_cwd(face: Zenml) -> None:
    """A relative one begins at the session's."""
    home = face.output("mkdir -p below; pwd").strip()
    assert f"{home}/below\n" == face.output("pwd", cwd="below")
    assert "/\n" == face.output("pwd", cwd="/")


@probe("session-exec-env")
def exec_env(face: Zenml) -> None:
    """It is over the session's, and gone with the command."""
    assert "1\n" == face.output("echo $ONLY", env={"ONLY": "1"})
    assert "\n" == face.output("echo $ONLY")


@probe("session-aexec")
def aexec(face: Zenml) -> None:
    async def run() -> str:
        process = await face.session.aexec([*WORDS, "echo $A; pwd"], cwd="/", env={"A": "a"})
        return process.collect().stdout

    assert "a\n/\n" == asyncio.run(run())


@probe("session-upload_file", "session-download_file")
def files(face: Zenml) -> None:
    """Bytes come back as they went, and the program sees them."""
    with tempfile.TemporaryDirectory() as folder:
        given, back = Path(folder, "given"), Path(folder, "back")
        given.write_bytes(bytes(range(256)))
        face.session.upload_file(os.fspath(given), "new/given.bin")
        assert "256\n" == face.output("wc -c < new/given.bin").replace(" ", "")
        face.session.download_file("new/given.bin", os.fspath(back))
        assert given.read_bytes() == back.read_bytes()
        with pytest.raises(FileNotFoundError):
            face.session.download_file("new/none", os.fspath(back))


@probe("session-close", "SandboxSessionClosedError")
def close(face: Zenml) -> None:
    """A closed handle does nothing more, but for a second close and destroy."""
    session = face.component.create_session()
    session.close()
    session.close()
    with pytest.raises(zenml.SandboxSessionClosedError, match=session.id):
        session.exec(["true"])
    assert issubclass(zenml.SandboxSessionClosedError, RuntimeError)
    session.destroy()


@probe("session-closed", "session-destroy")
def destroy(face: Zenml) -> None:
    """Its programs end, and nobody finds it any more."""
    session = face.component.create_session()
    assert not session.closed
    process = session.exec(["sleep", "600"])
    session.destroy()
    assert session.closed
    assert process.wait(30) != 0
    with pytest.raises((SandboxNotFoundError, NotImplementedError)):
        face.component.attach(session.id)


# --- processes


@probe("process-exit_code")
def exit_code(face: Zenml) -> None:
    """It is known without waiting; a signal's is 128 more."""
    process = face.session.exec(["sleep", "600"])
    assert process.exit_code is None
    process.kill()
    limit = time.monotonic() + 30
    while process.exit_code is None and time.monotonic() < limit:
        time.sleep(0.01)
    assert 137 == process.exit_code


@probe("process-collect")
def collect(face: Zenml) -> None:
    """Both streams and the exit code, once; a stream that nobody reads holds up nothing."""
    script = "echo out; head -c 300000 /dev/zero | tr '\\0' 'e' >&2; exit 3"
    process = face.session.exec([*WORDS, script])
    output = process.collect()
    assert ("out\n", 300_000, 3) == (output.stdout, len(output.stderr), output.exit_code)
    with pytest.raises(RuntimeError, match="before"):
        process.collect()


@probe("process-collect-max_chars")
def collect_max_chars(face: Zenml) -> None:
    """Lines are left out as a whole, and that is said."""
    output = face.session.exec([*WORDS, "echo 1; echo 2; echo 345"]).collect(max_chars=5)
    assert ("1\n2\n", True, False) == (
        *(output.stdout, output.stdout_truncated),
        output.stderr_truncated,
    )


@probe("process-kill")
def kill(face: Zenml) -> None:
    """Children end with it, and a second time harms nothing."""
    process = face.session.exec([*WORDS, "sleep 600 & echo $!; sleep 600"])
    child = next(process.stdout()).strip()
    assert "lives\n" == face.output(f"kill -0 {child} && echo lives")
    process.kill()
    assert 137 == process.wait(30)
    process.kill()
    limit = time.monotonic() + 30
    while face.output(f"kill -0 {child} && echo lives") and time.monotonic() < limit:
        time.sleep(0.05)
    assert "" == face.output(f"kill -0 {child} && echo lives")


@probe("process-stdout")
def stdout(face: Zenml) -> None:
    """Lines with their end; each once, however often they are asked for."""
    process = face.session.exec([*WORDS, "echo 1; printf 2"])
    assert "1\n" == next(process.stdout())
    assert ["2"] == list(process.stdout())
    assert [] == list(process.stdout())


@probe("process-stderr")
def stderr(face: Zenml) -> None:
    process = face.session.exec([*WORDS, "echo out; echo 1 >&2; printf 2 >&2"])
    assert ["1\n", "2"] == list(process.stderr())
    assert ["out\n"] == list(process.stdout())


@probe("process-wait")
def wait(face: Zenml) -> None:
    assert 5 == face.session.exec([*WORDS, "exit 5"]).wait()


@probe("process-wait-timeout")
def wait_timeout(face: Zenml) -> None:
    """The process goes on after it."""
    process = face.session.exec(["sleep", "600"])
    with pytest.raises(TimeoutError) as caught:
        process.wait(timeout=0.05)
    assert isinstance(caught.value, subprocess.TimeoutExpired)
    assert process.exit_code is None
    process.kill()
    assert 137 == process.wait(timeout=30)


@probe("SandboxExecError")
def exec_error(face: Zenml) -> None:
    """What cannot be started is an error, not an exit code."""
    with pytest.raises(zenml.SandboxExecError, match="no-such-program"):
        face.session.exec(["no-such-program"])
    with pytest.raises(zenml.SandboxExecError):
        face.session.exec(["true"], cwd="/no/such/directory")


# --- the local flavor's own classes


@probe("LocalSandboxSession")
def local_session() -> None:
    """Made of a directory of this machine, in which its commands run, and which goes with it."""
    folder = tempfile.mkdtemp()
    Path(folder, "given").write_text("here")
    session = zenml.LocalSandboxSession(folder, {"A": "1"}, parent=Zenml("local").component)
    try:
        output = session.exec([*WORDS, "cat given; echo $A"]).collect()
        assert "here1\n" == output.stdout
    finally:
        session.destroy()
    assert not Path(folder).exists()


@probe("LocalSandboxProcess")
def local_process() -> None:
    """What the local flavor's `exec` returns."""
    local = Zenml("local")
    try:
        process = local.session.exec([*WORDS, "echo out; echo err >&2; exit 4"])
        assert isinstance(process, zenml.LocalSandboxProcess)
        assert ["out\n"] == list(process.stdout())
        assert ["err\n"] == list(process.stderr())
        assert (4, 4) == (process.wait(), process.exit_code)
        process.kill()
    finally:
        local.close()
