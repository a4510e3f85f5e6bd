"""Files of a workspace, by paths that never lead out of it."""

from pathlib import Path

import pytest

from llm_sandbox.adapters.sbx_agents import DockerSandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> DockerSandbox:
    place = tmp_path / "workspace"
    place.mkdir()
    (tmp_path / "outside.txt").write_text("outside")
    return DockerSandbox(workspace=place)


def test_what_is_put_is_got(sandbox: DockerSandbox) -> None:
    path = sandbox.put_file("a/b/c.txt", "grün", encoding="latin-1")
    assert sandbox.workspace / "a/b/c.txt" == path
    assert b"gr\xfcn" == sandbox.get_bytes(path)
    assert "grün" == sandbox.get_file("a/b/c.txt", encoding="latin-1")
    sandbox.put_bytes("a/d.bin", b"\0")
    assert [Path("a/b/c.txt"), Path("a/d.bin")] == sandbox.list_files()
    assert [Path("a/d.bin")] == sandbox.list_files("a/*.bin")
    sandbox.delete_file("a/d.bin")
    with pytest.raises(FileNotFoundError):
        sandbox.get_bytes("a/d.bin")


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", "link", "folder/outside.txt"])
def test_nothing_leads_out(sandbox: DockerSandbox, path: str) -> None:
    """A path that leads out by dots, by its root or by a link is a ValueError, and changes
    nothing.
    """
    outside = sandbox.workspace.parent / "outside.txt"
    (sandbox.workspace / "link").symlink_to(outside)
    (sandbox.workspace / "folder").symlink_to(outside.parent)
    with pytest.raises(ValueError, match="workspace"):
        sandbox.get_bytes(path)
    if path != "link":  # which is a file of the workspace itself
        with pytest.raises(ValueError, match="workspace"):
            sandbox.put_bytes(path, b"x")
        with pytest.raises(ValueError, match="workspace"):
            sandbox.delete_file(path)
    assert "outside" == outside.read_text()
    assert [] == sandbox.list_files()


def test_deleting_a_link_leaves_its_target(sandbox: DockerSandbox) -> None:
    target = sandbox.put_file("target.txt", "kept")
    (sandbox.workspace / "link").symlink_to(target)
    sandbox.delete_file("link")
    assert [Path("target.txt")] == sandbox.list_files()


def test_workspace_that_is_named_by_a_link(sandbox: DockerSandbox) -> None:
    """A workspace may be named by a link to it, and its files by that name."""
    alias = sandbox.workspace.parent / "alias"
    alias.symlink_to(sandbox.workspace)
    other = DockerSandbox(workspace=alias)
    other.put_file(alias / "x.txt", "x")
    assert "x" == sandbox.get_file("x.txt")
