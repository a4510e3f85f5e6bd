"""Mounts of sessions, by the same words as those of sandboxes."""

import pytest

from llm_sandbox import Bind, SecurityError, Tmpfs, UnsupportedError, Volume, create_session
from llm_sandbox.exceptions import ValidationError
from tests.mounts.conftest import owner_of

CODE = """
from pathlib import Path
print(Path("/data/a.txt").read_text().strip())
Path("/cache/made").write_text("by code")
"""


def test_code_has_what_the_session_was_given(backend, folder):
    """In a kernel that keeps variables, from an interpreter of this session's own."""
    mounts = {"/data": Bind(folder), "/cache": Volume("v"), "/scratch": Tmpfs("1m")}
    with create_session(backend=backend, lang="python", mounts=mounts) as session:
        result = session.run(CODE)
        assert ("of the host\n", 0) == (result.stdout, result.exit_code)
        again = session.run("Path('/data/new').write_text('x')")
        assert "Read-only file system" in again.stderr
        full = session.run("Path('/scratch/z').write_bytes(bytes(3 << 20))")
        assert "No space left" in full.stderr
    made = folder.parent / "own" / "data" / "llm-sandbox" / "volumes" / "v" / "files" / "made"
    assert "by code" == made.read_text()
    assert owner_of(made.parent) == owner_of(made)


def test_one_judgment_of_what_is_dangerous(folder):
    """In the words of sandboxes or in those of engines, /etc is refused for the same reason."""
    with create_session(backend="bubblewrap", mounts={"/data": Bind(folder)}):
        pass
    session = create_session(backend="bubblewrap", mounts={"/data": Bind("/etc")})
    with pytest.raises(SecurityError, match="passwords"):
        session.open()


@pytest.mark.engine("docker", image="python")
def test_engines_words_are_heard_still(folder):
    mounts = [f"{folder}:/data:ro"]
    with create_session(backend="docker", mounts=mounts, persistent=False) as session:
        assert "a.txt" in session.execute_command("ls /data").stdout
    with pytest.raises(SecurityError, match="passwords"):
        create_session(backend="docker", mounts=["/etc:/data:ro"])
    # One mount of docker's own is a mapping, too.
    one = {"Target": "/data", "Source": str(folder), "Type": "bind", "ReadOnly": True}
    with create_session(backend="docker", mounts=one, persistent=False) as session:
        assert "a.txt" in session.execute_command("ls /data").stdout


def test_engines_words_are_refused_elsewhere(folder):
    with pytest.raises(UnsupportedError, match="mounts="):
        create_session(backend="bubblewrap", mounts=[f"{folder}:/data:ro"])
    with pytest.raises(ValidationError):
        create_session(backend="bubblewrap", mounts={"/proc": Tmpfs("1m")})
    session = create_session(backend="local", mounts={"/data": Tmpfs("1m")})
    with pytest.raises(UnsupportedError, match="/data"):
        session.open()
