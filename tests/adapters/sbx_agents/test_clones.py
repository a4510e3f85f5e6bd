"""``branch=``: a private clone, which shares nothing with the repository it comes from."""

import os
import subprocess
from pathlib import Path

import pytest

from llm_sandbox.adapters.sbx_agents import DockerSbxSandbox
from llm_sandbox.adapters.sbx_agents.clones import PrivateClone
from tests.adapters.sbx_agents.agents import SHELL
from tests.adapters.sbx_agents.conftest import FakeSbx, git


@pytest.fixture
def repository(workspace: Path) -> Path:
    git(workspace, "init", "-q", "-b", "main")
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "start")
    return workspace


def test_turn_on_a_branch(fake_sbx: FakeSbx, repository: Path) -> None:
    """The agent works in the clone: the source keeps its branch, files, hooks and configuration;
    and the next turn on that branch finds what the last one left.
    """
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    work = "echo two >> a.txt; echo '#!/bin/sh' > .git/hooks/post-merge; git config x.y z"
    sandbox = DockerSbxSandbox(workspace=repository, branch="feature/x")
    session = sandbox.prepare(SHELL, None)
    place = session.workspace
    sandbox.run(session, ["sh", "-c", f"mkdir -p .git/hooks; {work}"])
    artifacts = sandbox.collect(session)
    sandbox.cleanup(session)
    assert "+two" in (artifacts.diff or "")
    assert ["feature/x", str(place)] == [artifacts.metadata[one] for one in ("branch", "clone")]
    assert [".git/config", ".git/hooks/post-merge"] == artifacts.metadata["repository"]
    assert before == {path: path.read_bytes() for path in before}
    assert not (repository / ".git/hooks/post-merge").exists()
    assert "ref: refs/heads/feature/x\n" == (place / ".git/HEAD").read_text()

    assert place == sandbox.prepare(SHELL, None).workspace
    assert "one\ntwo\n" == (place / "a.txt").read_text()
    renewed = DockerSbxSandbox(workspace=repository, branch="feature/x", force_recreate=True)
    assert place == renewed.prepare(SHELL, None).workspace
    assert "one\n" == (place / "a.txt").read_text()


def test_nothing_is_shared(repository: Path) -> None:
    """No file of the clone is one of the source's, none of its hooks and settings is there, and it
    leads nowhere.
    """
    (repository / ".git/hooks/post-checkout").write_text("#!/bin/sh\n")
    git(repository, "config", "remote.upstream.url", "https://token@example.org/x")
    clone = PrivateClone(repository, "work").make()
    inodes = {path.stat().st_ino for path in repository.rglob("*") if path.is_file()}
    files = [path for path in clone.rglob("*") if path.is_file()]
    assert files
    assert inodes.isdisjoint(path.stat().st_ino for path in files)
    assert not (clone / ".git/hooks").exists()
    settings = (clone / ".git/config").read_text()
    assert "example.org" not in settings
    assert str(repository) not in settings


def test_an_existing_branch_is_worked_on(repository: Path) -> None:
    git(repository, "checkout", "-qb", "old")
    (repository / "a.txt").write_text("of old\n")
    git(repository, "commit", "-qam", "old")
    git(repository, "checkout", "-q", "main")
    clone = PrivateClone(repository, "old").make()
    assert "of old\n" == (clone / "a.txt").read_text()
    assert "one\n" == (PrivateClone(repository, "new").make() / "a.txt").read_text()


def test_a_hostile_source_starts_nothing(repository: Path, tmp_path: Path) -> None:
    """Cloning starts no program that the source or the user's settings name; Git itself does."""
    marker = tmp_path / "ran"
    touch = f"touch {marker}"
    (repository / ".gitattributes").write_text("* filter=evil\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "attributes")
    evil = f'[filter "evil"]\n\tsmudge = "{touch};cat"\n\tclean = "{touch};cat"\n'
    fsmonitor = f'[core]\n\tfsmonitor = "{touch};false"\n'
    pack = f'[uploadpack]\n\tpackObjectsHook = "{touch};exec"\n'
    with (repository / ".git/config").open("a") as file:
        file.write(evil + fsmonitor + pack)
    home = Path(os.environ["HOME"])
    (home / ".gitconfig").write_text(evil)
    hook = repository / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\n{touch}\n")
    hook.chmod(0o755)
    PrivateClone(repository, "work").make()
    assert not marker.exists()
    settings = ["git", "-c", "safe.directory=*", "clone", "-q", str(repository)]
    subprocess.run([*settings, str(tmp_path / "usual")], check=True)
    assert marker.exists()


def test_what_cannot_be_cloned(workspace: Path) -> None:
    """A folder without a repository, without a commit, and a name that is none are refused before
    anything is made.
    """
    with pytest.raises(ValueError, match="not a Git repository"):
        DockerSbxSandbox(workspace=workspace, branch="x").prepare(SHELL, None)
    git(workspace, "init", "-q")
    with pytest.raises(ValueError, match="no commit"):
        DockerSbxSandbox(workspace=workspace, branch="x").prepare(SHELL, None)
    with pytest.raises(ValueError, match="no branch can be named"):
        DockerSbxSandbox(workspace=workspace, branch="--upload-pack=x").prepare(SHELL, None)
