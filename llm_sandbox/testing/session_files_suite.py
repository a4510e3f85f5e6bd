"""Conformance suite of the files in results."""

import copy
from pathlib import Path

import pytest

from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import (
    ArtifactLimitError,
    SandboxFileNotFoundError,
    SandboxPermissionError,
    SandboxTimeoutError,
)
from llm_sandbox.limits import Limits
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.session_fixtures import SessionFixtures

__all__ = ["SessionFilesSuite"]

_PNG = (
    "import struct, zlib\n"
    "def chunk(kind, data):\n"
    "    check = zlib.crc32(kind + data)\n"
    "    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', check)\n"
    "head = struct.pack('>IIBBBBB', 3, 2, 8, 0, 0, 0, 0)\n"
    "png = (b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', head)\n"
    "    + chunk(b'IDAT', zlib.compress(bytes(8))) + chunk(b'IEND', b''))\n"
)


def _changes(result: ExecutionResult) -> dict[str, str | None]:
    return {path: item.change for item in result.files for path in item.paths}


class SessionFilesSuite(SessionFixtures):
    """Created, changed and removed files, after whatever end."""

    def test_created_files_come_back(self, own: BaseSession) -> None:
        """A file that a run writes is an artifact with content, whatever its name says it is."""
        result = own.run(f"{_PNG}open('picture.txt', 'wb').write(png)\nopen('a.csv', 'w')")
        picture = result.artifact("picture.txt")

        assert _changes(result) == {"a.csv": "created", "picture.txt": "created"}
        assert (picture.mime, picture.width, picture.height) == ("image/png", 3, 2)
        assert picture.bytes().startswith(b"\x89PNG")
        assert picture.size == len(picture.bytes())

    def test_changed_and_unchanged_files_are_told_apart(self, own: BaseSession) -> None:
        """A file that is written again is changed; one that is only read is not listed."""
        own.run("for name in 'abc': open(name, 'w').write(name)")
        result = own.run("open('a', 'a').write('more'); open('b').read()")

        assert _changes(result) == {"a": "changed"}
        assert result.artifact("a").read_text() == "amore"

    def test_a_later_run_lists_only_its_own(self, own: BaseSession) -> None:
        """Files of an earlier run are not listed again."""
        own.run("open('first', 'w').write('x')")

        assert own.run("1").files == ()
        assert _changes(own.run("open('second', 'w').write('y')")) == {"second": "created"}

    def test_removed_files_are_named_and_no_artifacts(self, own: BaseSession) -> None:
        """A file that an earlier run left is deleted; one that came and went never was there."""
        own.run("open('kept', 'w').write('x'); open('gone', 'w').write('y')")
        result = own.run("import os; os.remove('gone'); open('t', 'w').close(); os.remove('t')")

        assert (result.files, result.deleted) == ((), ("gone",))

    def test_what_the_host_uploads_is_no_artifact(self, own: BaseSession, tmp_path: Path) -> None:
        """Files that the host or a command wrote between runs are not the next run's."""
        (tmp_path / "up").write_text("x")
        own.copy_to_runtime(tmp_path / "up", "uploaded.txt")
        own.execute_command("echo x > commanded")
        result = own.run("open('own', 'w').write(open('uploaded.txt').read() + '!')")
        own.sandbox.files.write_text("own", "by the host")

        assert _changes(result) == {"own": "created"}
        assert own.run("1").files == ()

    def test_an_upload_that_is_changed_is_changed(self, own: BaseSession, tmp_path: Path) -> None:
        """A run that changes what the host uploaded is told to have changed it."""
        (tmp_path / "up").write_text("x")
        own.copy_to_runtime(tmp_path / "up", "data/in.csv")

        assert _changes(own.run("open('data/in.csv', 'a').write('y')")) == {
            "data/in.csv": "changed"
        }

    def test_folders_on_the_way_out_are_made(self, own: BaseSession, tmp_path: Path) -> None:
        """A copy brings the folders with it that it is to lie in; none where there is nothing."""
        own.run("open('a.txt', 'w').write('out')")
        own.copy_from_runtime("a.txt", tmp_path / "new" / "folder" / "b.txt")
        with pytest.raises(SandboxFileNotFoundError):
            own.copy_from_runtime("missing", tmp_path / "vain" / "b.txt")

        assert (tmp_path / "new" / "folder" / "b.txt").read_text() == "out"
        assert [path.name for path in tmp_path.iterdir()] == ["new"]

    def test_a_read_only_place_names_the_others(self, own: BaseSession, tmp_path: Path) -> None:
        """The error for a read-only path names writable ones, which are writable."""
        if own.isolation.state("files") == "absent":
            pytest.skip("nothing is read-only here")
        (tmp_path / "up").write_text("up")
        with pytest.raises(SandboxPermissionError, match="places that can be written") as caught:
            own.copy_to_runtime(tmp_path / "up", "/usr/lib/up")
        places = str(caught.value.hint).partition(": ")[2].split(", ")
        for place in places:
            own.copy_to_runtime(tmp_path / "up", f"{place}/up")

        assert places == [own.config.workdir, "/tmp", "/dev/shm"]

    def test_folders_are_looked_into(self, own: BaseSession) -> None:
        """Files in folders come with their path; folders, caches and hidden ones do not."""
        code = (
            "import os\n"
            "for place in ('out/deep', 'empty', '__pycache__', '.cache', 'out/.git'):\n"
            "    os.makedirs(place)\n"
            "    if place != 'empty': open(place + '/f.txt', 'w').write(place)\n"
        )

        assert _changes(own.run(code)) == {"out/deep/f.txt": "created"}

    def test_equal_files_are_one_artifact(self, own: BaseSession) -> None:
        """Two files of the same content are one artifact with two paths."""
        (item,) = own.run("for n in 'ab': open(f'{n}.txt', 'w').write('same')").files

        assert item.paths == ("a.txt", "b.txt")

    def test_over_the_limit_a_file_is_listed(self) -> None:
        """A file that is too large is listed with its kind and size, and without content."""
        limits = Limits(artifact_bytes=1 << 20)
        with self.make(limits=limits) as session:
            result = session.run(
                f"{_PNG}open('large', 'wb').write(png + bytes(2 << 20))\n"
                "open('small', 'wb').write(png)"
            )
            large = result.artifact("large")
            assert (large.mime, large.content) == ("image/png", None)
            assert large.size > 2 << 20
            assert "limits.artifact_bytes" in large.note
            assert result.artifact("small").content is not None

    def test_over_the_limit_a_file_is_brought_when_asked_for(self, tmp_path: Path) -> None:
        """A file too large for the result can be saved and opened while it is that of the run."""
        limits = Limits(artifact_bytes=1 << 20)
        with self.make(limits=limits) as session:
            code = "open('large', 'wb').write(bytes(range(256)) * 20_000)"
            large = session.run(code).artifact("large")
            saved = large.save(tmp_path / "saved.bin").read_bytes()
            with large.open() as file:
                first, size = file.read(4), file.seek(0, 2)
            copied = copy.deepcopy(large)
            session.run("open('large', 'ab').write(b'!')")
            with pytest.raises(ArtifactLimitError, match="has changed since"):
                large.save(tmp_path / "changed.bin")
            last = session.run("open('other', 'wb').write(bytes(3 << 20))").artifact("other")

        assert saved == bytes(range(256)) * 20_000
        assert (first, size) == (b"\x00\x01\x02\x03", 5_120_000)
        for gone in (copied, large.from_dict(large.to_dict()), last):
            with pytest.raises(ArtifactLimitError):
                gone.save(tmp_path / "gone.bin")
        assert [path.name for path in tmp_path.iterdir()] == ["saved.bin"]

    def test_more_files_than_the_limit_are_listed(self) -> None:
        """Past the number of contents that are kept, files are listed without."""
        with self.make(limits=Limits(artifacts=3)) as session:
            result = session.run("for n in range(5): open(f'f{n}', 'w').write(str(n))")

        assert [item.content is not None for item in result.files] == [True] * 3 + [False] * 2

    def test_links_are_named_and_not_followed(self, own: BaseSession) -> None:
        """A link is an artifact with what it names, whatever that is."""
        result = own.run("import os; os.symlink('/etc/passwd', 'l'); os.symlink('/etc', 'd')")

        assert [(item.mime, item.summary) for item in result.files] == [
            ("inode/symlink", "-> /etc"),
            ("inode/symlink", "-> /etc/passwd"),
        ]
        assert [item.content for item in result.files] == [None, None]

    @pytest.mark.parametrize(
        "end",
        [
            "raise ValueError('v')",
            "import sys; sys.exit(3)",
            "import os; os._exit(3)",
            "import os; os.kill(os.getpid(), 9)",
            "import ctypes; ctypes.string_at(0)",
        ],
        ids=["exception", "sys.exit", "os._exit", "kill", "segfault"],
    )
    def test_files_outlive_a_bad_end(self, own: BaseSession, end: str) -> None:
        """Files written before a run failed or died come back, once."""
        result = own.run(f"open('f.txt', 'w').write('kept')\n{end}")

        assert _changes(result) == {"f.txt": "created"}
        assert result.artifact("f.txt").read_text() == "kept"
        assert own.run("1").files == ()

    @pytest.mark.parametrize("code", ["while True: pass", "sum(range(10**13))"], ids=["py", "c"])
    def test_files_outlive_a_timeout(self, own: BaseSession, code: str) -> None:
        """Files written before a timeout come back, whether the state is kept or not."""
        with pytest.raises(SandboxTimeoutError) as caught:
            own.run(f"open('f.txt', 'w').write('kept')\n{code}", timeout=1.5)
        result = caught.value.result

        assert isinstance(result, ExecutionResult)
        assert result.artifact("f.txt").read_text() == "kept"
        assert own.run("1").files == ()

    def test_files_outlive_the_memory_limit(self) -> None:
        """Files written before memory ran out come back."""
        limits = Limits(memory_bytes=300 << 20)
        code = (
            "open('f.txt', 'w').write('kept')\n"
            "kept = []\n"
            "while True: kept.append(bytearray(9 << 20))"
        )
        with self.make(limits=limits) as session:
            result = session.run(code, timeout=60)

        assert result.exit_code != 0
        assert result.artifact("f.txt").read_text() == "kept"

    def test_a_fresh_interpreter_for_each_run_lists_its_own(self) -> None:
        """With `persistent=False` each run lists what it made."""
        with self.make(persistent=False) as session:
            first = session.run("open('a', 'w').write('x')")
            second = session.run("open('b', 'w').write('y')")

        assert (_changes(first), _changes(second)) == ({"a": "created"}, {"b": "created"})

    def test_a_session_that_ends_meanwhile_has_no_files(self) -> None:
        """A note says that files are gone if the sandbox ends during a run."""
        with self.make(session_timeout=1.5) as session:
            result = session.run("open('f', 'w').write('x')\nimport time; time.sleep(30)")

        assert result.files == ()
        assert any("files of the run are gone" in note for note in result.notes)
