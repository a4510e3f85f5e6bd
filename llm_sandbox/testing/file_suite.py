"""Conformance suite of the files of a sandbox."""

import io
import os
import tarfile
import threading
from pathlib import Path

import pytest

from llm_sandbox.exceptions import (
    FileError,
    NoSpaceError,
    OutputLimitError,
    PathError,
    SandboxFileExistsError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    SandboxNotADirectoryError,
    SandboxPermissionError,
    ValidationError,
)
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.testing.suite import MakeSandbox, Suite

__all__ = ["FileSuite"]


class FileSuite(Suite):
    """Behaviours of reading, writing, listing and removing."""

    def test_bytes_come_back(self, shared: Sandbox) -> None:
        """Written bytes are read back unchanged."""
        data = bytes(range(256)) * 1000
        shared.files.write_bytes("all-bytes", data)

        assert shared.files.read_bytes("all-bytes") == data

    def test_20_mb_come_back(self, shared: Sandbox) -> None:
        """A large file goes in and out whole."""
        data = os.urandom(1 << 20) * 20
        shared.files.write_bytes("large", data)

        assert shared.files.read_bytes("large") == data
        shared.files.remove("large")

    def test_an_empty_file_comes_back(self, shared: Sandbox) -> None:
        """Nothing at all is content, too."""
        shared.files.write_bytes("empty", b"")

        assert shared.files.read_bytes("empty") == b""

    def test_text_is_utf8(self, shared: Sandbox) -> None:
        """Text is written as UTF-8, and bytes that are not are read as escapes."""
        shared.files.write_text("text", "grün €\r\n")
        assert shared.files.read_bytes("text") == "grün €\r\n".encode()
        shared.files.write_bytes("text", b"a\xffb")

        assert shared.files.read_text("text") == "a\\xffb"

    def test_programs_see_the_same_files(self, shared: Sandbox) -> None:
        """Files written on one side are there on the other, owned by the sandbox's user."""
        shared.files.write_text("outer", "from outside")
        result = shared.sh("cat outer; test -O outer && printf inside > inner").collect()

        assert (result.stdout, result.exit_code) == ("from outside", 0)
        assert shared.files.read_text("inner") == "inside"

    def test_append_adds(self, shared: Sandbox) -> None:
        """Appending keeps what is there and makes what is not."""
        for word in ("one ", "two "):
            shared.files.write_text("log", word, append=True)

        assert shared.files.read_text("log") == "one two "

    def test_exclusive_refuses_what_exists(self, shared: Sandbox) -> None:
        """With `exclusive` an existing file stays as it was."""
        shared.files.write_text("once", "first", exclusive=True)
        with pytest.raises(SandboxFileExistsError):
            shared.files.write_text("once", "second", exclusive=True)

        assert shared.files.read_text("once") == "first"

    def test_overwriting_shortens(self, shared: Sandbox) -> None:
        """A shorter content leaves nothing of a longer one."""
        shared.files.write_text("shrinks", "a long content")
        shared.files.write_text("shrinks", "short")

        assert shared.files.read_text("shrinks") == "short"

    def test_parents_are_made_or_not(self, shared: Sandbox) -> None:
        """Missing directories are made, and with `parents=False` are an error."""
        shared.files.write_text("new/deep/file", "x")
        assert shared.files.read_text("new/deep/file") == "x"

        with pytest.raises(SandboxFileNotFoundError):
            shared.files.write_text("absent/file", "x", parents=False)

    @pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o777])
    def test_the_mode_of_a_new_file_is_exact(self, shared: Sandbox, mode: int) -> None:
        """A new file has the permission bits that were asked for, whatever the umask."""
        shared.files.write_text(f"mode-{mode:o}", "x", mode=mode)

        assert shared.files.stat(f"mode-{mode:o}").mode == mode

    @pytest.mark.parametrize("mode", [-1, 0o4755, 0o10000])
    def test_other_modes_are_refused(self, shared: Sandbox, mode: int) -> None:
        """Only permission bits can be asked for."""
        with pytest.raises(ValidationError):
            shared.files.write_text("mode", "x", mode=mode)

    def test_relative_paths_start_at_the_working_directory(self, shared: Sandbox) -> None:
        """A relative and the absolute path name one file."""
        shared.files.write_text("here", "x")

        assert shared.files.read_text(f"{shared.workdir}/here") == "x"
        shared.files.mkdir("new")
        assert shared.files.read_text("./new/../here") == "x"

    @pytest.mark.parametrize("path", ["", "a\0b", None, 5, b"bytes", "\ud800"])
    def test_what_is_no_path_is_refused(self, shared: Sandbox, path: object) -> None:
        """A path that is empty, no text, or holds NUL is refused before anything happens."""
        for operation in (shared.files.read_bytes, shared.files.list, shared.files.remove):
            with pytest.raises(PathError):
                operation(path)  # type: ignore[arg-type]

    def test_a_path_too_long_is_a_path_error(self, shared: Sandbox) -> None:
        """A name longer than a file system takes is a path error."""
        with pytest.raises(PathError):
            shared.files.write_text("x" * 300, "")

    def test_a_missing_file_is_not_found(self, shared: Sandbox) -> None:
        """A missing path is a `FileNotFoundError`, and the error names the path."""
        for operation in (
            shared.files.read_bytes,
            shared.files.stat,
            shared.files.list,
            shared.files.remove,
            shared.files.archive,
        ):
            with pytest.raises(FileNotFoundError, match="missing") as caught:
                operation("missing")
            assert isinstance(caught.value, SandboxFileNotFoundError)

    def test_a_directory_is_no_file(self, shared: Sandbox) -> None:
        """Reading or writing a directory, and listing a file, are told apart."""
        shared.files.mkdir("folder")
        shared.files.write_text("plain", "x")

        with pytest.raises(SandboxIsADirectoryError):
            shared.files.read_bytes("folder")
        with pytest.raises(SandboxIsADirectoryError):
            shared.files.write_text("folder", "x")
        with pytest.raises(SandboxNotADirectoryError):
            shared.files.list("plain")
        with pytest.raises(SandboxNotADirectoryError):
            shared.files.read_bytes("plain/inner")

    def test_a_pipe_does_not_block(self, shared: Sandbox) -> None:
        """Reading or writing a pipe that has no other end is an error at once."""
        shared.exec("mkfifo", "pipe").wait()

        with pytest.raises(FileError):
            shared.files.read_bytes("pipe")
        with pytest.raises(FileError):
            shared.files.write_text("pipe", "x")
        assert shared.files.stat("pipe").kind == "other"

    def test_a_device_is_no_file(self, shared: Sandbox) -> None:
        """An endless device is not read."""
        with pytest.raises(FileError):
            shared.files.read_bytes("/dev/zero")

    def test_a_file_that_fails_halfway_is_an_error(self, shared: Sandbox) -> None:
        """A file whose reading fails is an error, and the next operation works."""
        with pytest.raises(FileError):
            shared.files.read_bytes("/proc/self/mem")

        shared.files.write_text("after", "x")
        assert shared.files.read_text("after") == "x"

    def test_reading_is_limited(self, shared: Sandbox) -> None:
        """A file larger than the limit is refused, and one of its size is not."""
        shared.files.write_bytes("sized", b"x" * 1000)

        assert len(shared.files.read_bytes("sized", limit=1000)) == 1000
        with pytest.raises(OutputLimitError):
            shared.files.read_bytes("sized", limit=999)

    def test_a_sparse_file_is_limited(self, shared: Sandbox) -> None:
        """A file that is large only by its length is refused like any other."""
        shared.exec("truncate", "-s", "200M", "sparse").wait()

        with pytest.raises(OutputLimitError):
            shared.files.read_bytes("sparse")
        with pytest.raises(OutputLimitError):
            shared.files.archive("sparse", limit=1 << 20)
        shared.files.remove("sparse")

    def test_a_list_is_sorted_and_follows_nothing(self, own: Sandbox) -> None:
        """A listing has every kind by name, in order, and says where links lead."""
        own.sh("mkdir d; echo 12345 > f; ln -s /nowhere l; mkfifo p; touch .hidden").wait()
        entries = {entry.name: entry for entry in own.files.list()}

        assert list(entries) == [".hidden", "d", "f", "l", "p"]
        kinds = [entry.kind for entry in entries.values()]
        assert kinds == ["file", "directory", "file", "link", "other"]
        assert (entries["f"].size, entries["l"].target) == (6, "/nowhere")

    def test_names_of_any_bytes(self, own: Sandbox) -> None:
        """Names with newlines, escapes, quotes and bytes that are not UTF-8 work everywhere."""
        names = [
            "new\nline",
            "esc\x1b[1m",
            "quo'te\"s",
            "spa ce",
            "€",
            os.fsdecode(b"\xff\xfe"),
            "-rf",
        ]
        for name in names:
            own.files.write_text(name, name.encode("utf-8", "surrogateescape").hex())

        assert sorted(entry.name for entry in own.files.list()) == sorted(names)
        assert own.sh("ls -A | wc -c").collect().stdout
        for name in names:
            expected = name.encode("utf-8", "surrogateescape").hex()
            assert own.files.read_text(name) == expected
            own.files.remove(name)
        assert own.files.list() == []

    def test_a_huge_directory_is_listed(self, own: Sandbox) -> None:
        """5,000 files are listed, every one."""
        own.exec("python3", "-c", "for n in range(5000): open(f'{n:04}', 'w').close()").wait()

        assert [entry.name for entry in own.files.list()] == [f"{n:04}" for n in range(5000)]

    def test_stat_follows_or_not(self, shared: Sandbox) -> None:
        """A link is described as what it leads to, or as itself."""
        shared.sh("printf 123 > real; ln -sf real link").wait()

        assert (shared.files.stat("link").kind, shared.files.stat("link").size) == ("file", 3)
        link = shared.files.stat("link", follow=False)
        assert (link.kind, link.target) == ("link", "real")

    def test_exists_says_so(self, shared: Sandbox) -> None:
        """An existing path exists; a missing one, one below a file, or a dangling link does not."""
        shared.sh("touch there; ln -sf /nowhere dangling").wait()

        assert [shared.files.exists(p) for p in ("there", ".", "/usr")] == [True] * 3
        assert not any(shared.files.exists(p) for p in ("gone", "there/x", "dangling", "gone/x"))

    def test_directories_are_made(self, shared: Sandbox) -> None:
        """A directory is made with its parents, and one that exists is fine or not, as asked."""
        shared.files.mkdir("made/deep")
        shared.files.mkdir("made/deep")
        assert shared.files.stat("made/deep").kind == "directory"

        with pytest.raises(SandboxFileExistsError):
            shared.files.mkdir("made/deep", exist_ok=False)
        with pytest.raises(SandboxFileNotFoundError):
            shared.files.mkdir("unmade/deep", parents=False)
        shared.files.write_text("made/file", "")
        with pytest.raises(SandboxFileExistsError):
            shared.files.mkdir("made/file")

    def test_removing_removes_what_is_named(self, shared: Sandbox) -> None:
        """A file or empty directory goes, a full one only when asked; a link leaves its target."""
        shared.sh("mkdir -p full/inner empty; echo x > full/f; ln -sfn full to-full").wait()

        shared.files.remove("to-full", recursive=True)
        assert shared.files.exists("full/f")
        shared.files.remove("empty")
        with pytest.raises(FileError):
            shared.files.remove("full")
        shared.files.remove("full", recursive=True)
        assert not shared.files.exists("full")

    def test_permissions_are_the_users(self, shared: Sandbox) -> None:
        """An operation without the permission is a permission error."""
        self.need(shared, "privileges")
        shared.files.write_text("sealed", "x", mode=0)

        with pytest.raises(SandboxPermissionError):
            shared.files.read_bytes("sealed")
        with pytest.raises(SandboxPermissionError):
            shared.files.write_text("/usr/probe", "x")

    def test_a_full_disk_is_told(self, make: MakeSandbox) -> None:
        """Writing more than fits is a no-space error, and what fits fits afterwards."""
        sandbox = make(limits=Limits(workdir_bytes=2 << 20))
        self.need(sandbox, "disk")
        with pytest.raises(NoSpaceError):
            sandbox.files.write_bytes("big", b"x" * (3 << 20))
        sandbox.files.remove("big")

        sandbox.files.write_bytes("small", b"x" * (1 << 20))
        assert sandbox.files.stat("small").size == 1 << 20

    def test_a_killed_service_comes_back(self, shared: Sandbox) -> None:
        """File operations work after a program has killed everything it could."""
        self.need(shared, "processes")
        shared.files.write_text("survives", "x")
        shared.sh("kill -9 -1").wait()

        assert shared.files.read_text("survives") == "x"
        shared.sh("kill -9 -1").wait()
        shared.files.write_text("survives", "y", append=True)
        assert shared.files.read_text("survives") == "xy"

    def test_threads_share_the_files(self, shared: Sandbox) -> None:
        """Operations of several threads do not mix up."""
        wrong: list[int] = []

        def work(number: int) -> None:
            for _ in range(20):
                shared.files.write_text(f"thread-{number}", str(number) * 1000)
                if shared.files.read_text(f"thread-{number}") != str(number) * 1000:
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)

        assert not wrong

    def test_an_archive_is_a_tar(self, own: Sandbox) -> None:
        """An archive holds files, directories and links below the directory's name, and no pipe."""
        own.sh("mkdir -p d/e; echo x > d/e/f; ln -s e d/l; mkfifo d/p").wait()
        with tarfile.open(fileobj=io.BytesIO(own.files.archive("d"))) as archive:
            names = sorted(archive.getnames())
            assert names == ["d", "d/e", "d/e/f", "d/l"]
            assert archive.getmember("d/l").issym()

    def test_links_lead_nowhere_else(self, shared: Sandbox) -> None:
        """A link to a file of the host leads to the sandbox's file of that name, or to nothing."""
        self.need(shared, "files")
        shared.sh("ln -sf /etc/shadow to-shadow; ln -sf /etc/passwd to-passwd").wait()

        # An image may have a file of that name, which its user may not read.
        with pytest.raises((SandboxFileNotFoundError, SandboxPermissionError)):
            shared.files.read_bytes("to-shadow")
        assert shared.files.read_text("to-passwd") != Path("/etc/passwd").read_text("utf-8")
