"""Layer on top of a locally made base: new files, and nothing else."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.containers.images.debian_root import bootstrap_command, write_layer

if TYPE_CHECKING:
    from pathlib import Path

REGULAR, LINK, HARD_LINK, FOLDER = (
    tarfile.REGTYPE,
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.DIRTYPE,
)


def member(
    name: str,
    content: bytes = b"",
    kind: bytes = REGULAR,
    *,
    to: str = "",
    mode: int = 0o644,
    uid: int = 0,
    time: int = 0,
) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode, made.uid, made.mtime = kind, to, mode, uid, time
    made.size = len(content)
    return made, content


def names_of_the_layer(
    folder: Path,
    before: list[tuple[tarfile.TarInfo, bytes]],
    after: list[tuple[tarfile.TarInfo, bytes]],
) -> list[str]:
    for name, members in (("before", before), ("after", after)):
        with tarfile.open(folder / name, "w") as archive:
            for made, content in members:
                archive.addfile(made, io.BytesIO(content))
    write_layer(folder / "before", folder / "after", folder / "layer")
    with tarfile.open(folder / "layer") as archive:
        return archive.getnames()


def test_a_layer_has_what_is_new_with_its_content(tmp_path: Path) -> None:
    old = [member("usr/bin", kind=FOLDER, mode=0o755), member("usr/bin/old", b"old")]
    new = [member("./usr/bin/new", b"new", mode=0o755, uid=7)]
    assert ["./usr/bin/new"] == names_of_the_layer(tmp_path, old, [*old, *new])
    with tarfile.open(tmp_path / "layer") as archive:
        (made,) = archive
        content = archive.extractfile(made)
        assert content is not None
        assert (b"new", 0o755, 7) == (content.read(), made.mode, made.uid)


@pytest.mark.parametrize(
    "changed",
    [
        member("file", b"other"),
        member("file", b"same", mode=0o755),
        member("file", b"same", uid=1),
        member("file", kind=LINK, to="elsewhere"),
        member("file", kind=FOLDER),
    ],
    ids=["content", "mode", "owner", "link", "folder"],
)
def test_what_is_changed_is_new(tmp_path: Path, changed: tuple[tarfile.TarInfo, bytes]) -> None:
    assert ["file"] == names_of_the_layer(tmp_path, [member("file", b"same")], [changed])


def test_times_and_ways_of_writing_do_not_count(tmp_path: Path) -> None:
    """Engines write modes with the type in them, paths without a dot, and other first names."""
    before = [
        member("usr", kind=FOLDER, mode=0o40755),
        member("usr/b", b"same", mode=0o100644, time=5),
        member("usr/a", kind=HARD_LINK, to="usr/b"),
    ]
    after = [
        member("./usr/", kind=FOLDER, mode=0o755),
        member("./usr/a", b"same", time=9),
        member("./usr/b", kind=HARD_LINK, to="./usr/a"),
    ]
    assert [] == names_of_the_layer(tmp_path, before, after)


def test_what_engines_and_installers_leave_there_is_left_out(tmp_path: Path) -> None:
    left = ["dev/null", "etc/hosts", "tmp/x", "var/lib/apt/lists/lock", ".dockerenv", "run/a/b"]
    kept = ["etc/hostsfile", "device", "var/lib/apt/extended_states"]
    after = [member(name) for name in left + kept]
    assert kept == names_of_the_layer(tmp_path, [], after)


def test_packages_are_added_to_a_root_that_is_there(tmp_path: Path) -> None:
    ground = tmp_path / "the root.tar"
    command = bootstrap_command(tmp_path / "x.tar", "bookworm", ["ruby"], "x86_64", (), ground)
    assert "--variant=custom" in command
    assert "--include=ruby" in command
    assert not any("merged-usr" in word for word in command)
    unpack, _ = [word for word in command if word.startswith("--setup-hook=")]
    assert unpack.endswith(f"-xf '{ground}'")
