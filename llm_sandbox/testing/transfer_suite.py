"""Conformance suite of file transfers between host and sandbox."""

import os
import stat
import threading
from pathlib import Path

import pytest

from llm_sandbox.exceptions import (
    FileError,
    NoSpaceError,
    OutputLimitError,
    PathError,
    SandboxFileNotFoundError,
)
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.testing.suite import MakeSandbox, Suite

__all__ = ["TransferSuite"]


class TransferSuite(Suite):
    """Behaviours of uploads and downloads, friendly and hostile."""

    # --- into the sandbox

    def test_a_file_is_uploaded(self, own: Sandbox, tmp_path: Path) -> None:
        """A file becomes the path that is named, with its content and executable bit."""
        script = tmp_path / "script"
        script.write_text("#!/bin/sh\necho ran\n")
        script.chmod(0o755)
        own.files.upload(script, "bin/tool")

        assert own.exec("./bin/tool").collect().stdout == "ran\n"

    def test_a_directory_is_uploaded(self, own: Sandbox, tmp_path: Path) -> None:
        """A directory's content comes to lie in the directory that is named, over what is there."""
        (tmp_path / "d" / "inner").mkdir(parents=True)
        (tmp_path / "d" / "inner" / "file").write_bytes(b"new")
        (tmp_path / "d" / "empty").mkdir()
        own.files.write_text("target/inner/file", "old content")
        own.files.write_text("target/other", "stays")
        own.files.upload(tmp_path / "d", "target")

        assert own.files.read_text("target/inner/file") == "new"
        assert own.files.read_text("target/other") == "stays"
        assert own.files.stat("target/empty").kind == "directory"

    def test_a_link_within_is_uploaded_as_one(self, own: Sandbox, tmp_path: Path) -> None:
        """A link that stays in the directory is a link in the sandbox."""
        (tmp_path / "d" / "sub").mkdir(parents=True)
        (tmp_path / "d" / "file").write_text("x")
        (tmp_path / "d" / "sub" / "link").symlink_to("../file")
        own.files.upload(tmp_path / "d", "target")

        assert own.files.stat("target/sub/link", follow=False).target == "../file"
        assert own.files.read_text("target/sub/link") == "x"

    @pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "sub/../../outside"])
    def test_a_link_that_leads_out_is_refused(
        self, own: Sandbox, tmp_path: Path, target: str
    ) -> None:
        """A link to what is not uploaded is refused, and what it names is not sent."""
        (tmp_path / "outside").write_text("canary")
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "link").symlink_to(target)

        with pytest.raises(PathError, match="link"):
            own.files.upload(tmp_path / "d", "target")
        assert not own.files.exists("target/link")

    def test_a_pipe_of_the_host_is_refused(self, own: Sandbox, tmp_path: Path) -> None:
        """A pipe is refused at once, by itself or in a directory."""
        (tmp_path / "d").mkdir()
        os.mkfifo(tmp_path / "d" / "pipe")

        for path in (tmp_path / "d", tmp_path / "d" / "pipe"):
            with pytest.raises(PathError):
                own.files.upload(path, "target")
        assert own.exec("true").wait() == 0

    def test_a_missing_host_file_is_not_found(self, own: Sandbox, tmp_path: Path) -> None:
        """Uploading what is not there is a `FileNotFoundError`, and harms nothing."""
        with pytest.raises(FileNotFoundError):
            own.files.upload(tmp_path / "missing", "target")

        assert own.files.list() == []

    def test_an_upload_too_large_is_told(self, make: MakeSandbox, tmp_path: Path) -> None:
        """An upload that does not fit is a no-space error, and the sandbox goes on."""
        sandbox = make(limits=Limits(workdir_bytes=1 << 20))
        self.need(sandbox, "disk")
        (tmp_path / "big").write_bytes(b"x" * (3 << 20))
        with pytest.raises(NoSpaceError):
            sandbox.files.upload(tmp_path / "big", "big")

        sandbox.files.remove("big")
        sandbox.files.write_text("small", "x")

    def test_an_upload_over_a_link_replaces_it(self, own: Sandbox, tmp_path: Path) -> None:
        """A link that waits at an upload's destination is not written through."""
        own.sh("echo kept > kept; mkdir d; ln -s ../kept d/file").wait()
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "file").write_text("uploaded")
        own.files.upload(tmp_path / "d", "d")

        assert (own.files.read_text("kept"), own.files.read_text("d/file")) == (
            "kept\n",
            "uploaded",
        )

    # --- out of the sandbox

    def test_a_file_is_downloaded(self, own: Sandbox, tmp_path: Path) -> None:
        """A file lands exactly at the path that is named."""
        own.files.write_bytes("a/file", b"content")
        report = own.files.download("a/file", tmp_path / "copy")

        assert (tmp_path / "copy").read_bytes() == b"content"
        assert (report.files, report.size, report.skipped) == (1, 7, [])
        assert [path.name for path in tmp_path.iterdir()] == ["copy"]

    def test_a_directory_is_downloaded(self, own: Sandbox, tmp_path: Path) -> None:
        """A directory becomes the path that is named, not one level deeper."""
        own.sh("mkdir -p d/e/empty; echo x > d/e/f; echo y > d/g; chmod 755 d/g").wait()
        report = own.files.download("d", tmp_path / "copy")

        assert (tmp_path / "copy" / "e" / "f").read_text() == "x\n"
        assert (tmp_path / "copy" / "e" / "empty").is_dir()
        assert os.access(tmp_path / "copy" / "g", os.X_OK)
        assert (report.files, report.size) == (2, 4)

    def test_a_download_merges(self, own: Sandbox, tmp_path: Path) -> None:
        """A directory that exists keeps its other files."""
        (tmp_path / "copy" / "e").mkdir(parents=True)
        (tmp_path / "copy" / "e" / "f").write_text("old")
        (tmp_path / "copy" / "mine").write_text("mine")
        own.sh("mkdir -p d/e; echo x > d/e/f").wait()
        own.files.download("d", tmp_path / "copy")

        assert (tmp_path / "copy" / "e" / "f").read_text() == "x\n"
        assert (tmp_path / "copy" / "mine").read_text() == "mine"

    def test_a_file_is_replaced_in_one_step(self, own: Sandbox, tmp_path: Path) -> None:
        """A process with the old file open keeps the old file."""
        (tmp_path / "copy").write_text("old")
        own.files.write_text("new", "new")
        with (tmp_path / "copy").open() as old:
            own.files.download("new", tmp_path / "copy")
            assert old.read() == "old"

        assert (tmp_path / "copy").read_text() == "new"

    def test_another_name_of_the_destination_keeps_its_content(
        self, own: Sandbox, tmp_path: Path
    ) -> None:
        """A hard link to what is replaced, by itself or in a directory, is not written through."""
        (tmp_path / "outside").write_text("kept")
        (tmp_path / "copy").mkdir()
        for name in ("alone", "copy/inner"):
            (tmp_path / name).hardlink_to(tmp_path / "outside")
        own.sh("mkdir d; echo new > d/inner; ln d/inner d/again").wait()
        own.files.download("d/inner", tmp_path / "alone")
        own.files.download("d", tmp_path / "copy")

        assert (tmp_path / "outside").read_text() == "kept"
        for name in ("alone", "copy/inner", "copy/again"):
            assert (tmp_path / name).read_text() == "new\n"

    def test_a_file_does_not_replace_a_directory(self, own: Sandbox, tmp_path: Path) -> None:
        """A directory at the destination of a file is an error and stays."""
        (tmp_path / "copy").mkdir()
        own.files.write_text("file", "x")
        with pytest.raises(IsADirectoryError):
            own.files.download("file", tmp_path / "copy")

        assert list((tmp_path / "copy").iterdir()) == []

    def test_missing_ends_are_not_found(self, own: Sandbox, tmp_path: Path) -> None:
        """A missing path on either side is a `FileNotFoundError`, and nothing is created."""
        own.files.write_text("file", "x")
        with pytest.raises(SandboxFileNotFoundError):
            own.files.download("missing", tmp_path / "copy")
        with pytest.raises(FileNotFoundError):
            own.files.download("file", tmp_path / "no" / "copy")

        assert list(tmp_path.iterdir()) == []

    def test_links_are_left_out(self, own: Sandbox, tmp_path: Path) -> None:
        """Links, pipes and sockets in a directory are left out and reported."""
        own.sh("mkdir d; echo x > d/f; ln -s /etc/passwd d/l; ln -s . d/loop; mkfifo d/p").wait()
        report = own.files.download("d", tmp_path / "copy")

        assert [path.name for path in (tmp_path / "copy").iterdir()] == ["f"]
        assert sorted(skipped.path for skipped in report.skipped) == ["l", "loop", "p"]

    def test_a_link_in_the_destination_is_not_followed(self, own: Sandbox, tmp_path: Path) -> None:
        """A link that lies in the destination does not lead the download out of it."""
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "f").write_text("untouched")
        (tmp_path / "copy").mkdir()
        (tmp_path / "copy" / "e").symlink_to(outside)
        (tmp_path / "copy" / "g").symlink_to(outside / "f")
        own.sh("mkdir -p d/e; echo evil > d/e/f; echo evil > d/g").wait()
        report = own.files.download("d", tmp_path / "copy")

        assert (outside / "f").read_text() == "untouched"
        assert [skipped.path for skipped in report.skipped if "/" in skipped.path] == ["e/f"]
        assert (tmp_path / "copy" / "g").read_text() == "evil\n"
        assert not (tmp_path / "copy" / "g").is_symlink()

    def test_a_link_swapped_in_while_downloading_harms_nothing(
        self, own: Sandbox, tmp_path: Path
    ) -> None:
        """Directories that turn into links and back while they are copied lead nowhere."""
        canary = tmp_path / "outside"
        canary.mkdir()
        swap = (
            "import os\n"
            "os.makedirs('d/a'); os.makedirs('d/b'); open('d/a/f', 'w').write('evil')\n"
            f"os.symlink({str(canary)!r}, 'link'); print('ready', flush=True)\n"
            "while True:\n"
            "    os.rename('d/a', 'd/x'); os.rename('link', 'd/a')\n"
            "    os.rename('d/a', 'link'); os.rename('d/x', 'd/a')\n"
        )
        process = own.exec("python3", "-c", swap, timeout=20)
        assert next(process.stdout.lines()) == "ready"
        for number in range(30):
            own.files.download("d", tmp_path / f"copy{number % 3}")
        process.kill()

        assert list(canary.iterdir()) == []
        assert not [path for path in tmp_path.rglob("*") if path.is_symlink()]

    def test_names_of_any_bytes_are_downloaded(self, own: Sandbox, tmp_path: Path) -> None:
        """Names with newlines and bytes that are not UTF-8 keep their bytes."""
        names = sorted([b"new\nline", b"\xff\xfe", b"quo'te", b"..x", b"x" * 255])
        for name in names:
            own.files.write_text(f"d/{os.fsdecode(name)}", "x")
        own.files.download("d", tmp_path / "copy")

        assert sorted(os.fsencode(path.name) for path in (tmp_path / "copy").iterdir()) == names

    def test_a_download_is_limited(self, own: Sandbox, tmp_path: Path) -> None:
        """A directory of more bytes than the limit is refused, and leaves nothing behind."""
        own.sh("mkdir d; for n in 1 2 3 4; do head -c 300000 /dev/zero > d/$n; done").wait()
        with pytest.raises(OutputLimitError):
            own.files.download("d", tmp_path / "copy", limit=1_000_000)

        assert list(tmp_path.iterdir()) == []
        assert own.files.download("d", tmp_path / "copy", limit=1_200_000).files == 4

    def test_a_sparse_file_is_refused_by_its_length(self, own: Sandbox, tmp_path: Path) -> None:
        """A sparse file is measured by its length, before its zeros are sent."""
        own.sh("mkdir d; truncate -s 200M d/sparse").wait()
        for path in ("d", "d/sparse"):
            with pytest.raises(OutputLimitError):
                own.files.download(path, tmp_path / "copy", limit=100 << 20)

        assert list(tmp_path.iterdir()) == []

    def test_deep_directories_are_left_out(self, own: Sandbox, tmp_path: Path) -> None:
        """Entries deeper than 64 directories are left out and reported."""
        program = "import os\nfor n in range(200): os.mkdir('d'); os.chdir('d')\n"
        own.exec("python3", "-c", f"{program}open('bottom', 'w')").wait()
        report = own.files.download("d", tmp_path / "copy")

        assert report.skipped
        assert not list(tmp_path.rglob("bottom"))

    def test_many_links_do_not_flood_the_report(self, own: Sandbox, tmp_path: Path) -> None:
        """The report of what is left out is bounded."""
        own.exec(
            "python3",
            "-c",
            "import os; os.mkdir('d')\nfor n in range(3000): os.symlink('x', f'd/{n}')",
        ).wait()

        assert len(own.files.download("d", tmp_path / "copy").skipped) == 1000

    def test_an_unreadable_file_is_reported(self, own: Sandbox, tmp_path: Path) -> None:
        """A file that the sandbox's user may not read is left out; the others come."""
        self.need(own, "privileges")
        own.sh("mkdir d; echo x > d/f; echo y > d/sealed; chmod 0 d/sealed").wait()
        report = own.files.download("d", tmp_path / "copy")

        assert [skipped.path for skipped in report.skipped] == ["sealed"]
        assert [path.name for path in (tmp_path / "copy").iterdir()] == ["f"]

    def test_no_special_bits_come_out(self, own: Sandbox, tmp_path: Path) -> None:
        """Set-user-id and world-writable bits do not come out with a file."""
        own.sh("mkdir d; echo x > d/f; chmod 6777 d/f").wait()
        own.files.download("d", tmp_path / "copy")
        mode = (tmp_path / "copy" / "f").stat().st_mode

        assert stat.S_IMODE(mode) & 0o6022 == 0

    def test_a_pipe_is_not_downloaded(self, own: Sandbox, tmp_path: Path) -> None:
        """A pipe named as a file is an error at once."""
        own.exec("mkfifo", "pipe").wait()
        with pytest.raises(FileError):
            own.files.download("pipe", tmp_path / "copy")

        assert list(tmp_path.iterdir()) == []

    def test_downloads_at_once(self, own: Sandbox, tmp_path: Path) -> None:
        """Several threads download without mixing up their files."""
        for number in range(4):
            own.files.write_bytes(f"f{number}", bytes([number]) * 1_000_000)
        threads = [
            threading.Thread(target=own.files.download, args=(f"f{n}", tmp_path / f"f{n}"))
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)

        for number in range(4):
            assert (tmp_path / f"f{number}").read_bytes() == bytes([number]) * 1_000_000
