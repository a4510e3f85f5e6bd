"""A folder that was judged is the one that is mounted, whatever is put in its place meanwhile."""

import errno
import os

import pytest

from llm_sandbox import Bind, SandboxError
from llm_sandbox.backends import mounts as judged
from llm_sandbox.backends.hardening.idmap import open_exactly
from tests.mounts.conftest import IS_ROOT, run

SECRET = "of somebody else\n"


@pytest.fixture
def workspace(tmp_path):
    """A folder that some sandbox writes to, in which another one is given a part."""
    made = tmp_path / "workspace"
    (made / "part").mkdir(parents=True)
    (made / "part" / "a.txt").write_text("of the host\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text(SECRET)
    return made


def swap(workspace):
    """What a sandbox that may write to the folder does in the worst moment."""
    (workspace / "part").rename(workspace / "aside")
    (workspace / "part").symlink_to(workspace.parent / "other")


@pytest.fixture
def swapped(workspace, monkeypatch):
    """Have it done just after the folder was judged."""
    judge = judged.find_mounts

    def find(mounts):
        found = judge(mounts)
        swap(workspace)
        return found

    for place in ("bubblewrap.machine_mounts", "containers.creation.mount_plan"):
        monkeypatch.setattr(f"llm_sandbox.backends.{place}.find_mounts", find)


@pytest.mark.redteam
@pytest.mark.skipif(not IS_ROOT, reason="who is not root has an engine mount by path")
@pytest.mark.parametrize("read_only", [True, False])
def test_a_link_that_came_after_the_judgment_is_not_followed(
    make, backend, workspace, swapped, read_only
):
    with pytest.raises(SandboxError, match="link"):
        make(backend=backend, mounts={"/data": Bind(workspace / "part", read_only=read_only)})
    assert (workspace / "part").is_symlink()


def test_a_link_that_was_there_before_is_followed_and_judged(make, backend, workspace):
    """The control: what the link leads to is within reach of a mount."""
    swap(workspace)
    sandbox = make(backend=backend, mounts={"/data": Bind(workspace / "part")})
    assert (SECRET, 0) == run(sandbox, "cat /data/a.txt")


def test_no_part_of_a_path_is_a_link(workspace):
    os.close(open_exactly(str(workspace / "part")))
    swap(workspace)
    for path in ("part", "part/a.txt"):
        os.close(os.open(workspace / path, os.O_PATH))  # which follows it
        with pytest.raises(OSError, match="has become a link") as caught:
            open_exactly(str(workspace / path))
        assert errno.ELOOP == caught.value.errno
