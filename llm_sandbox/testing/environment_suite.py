"""Conformance suite of the environment of programs."""

import os
from pathlib import Path

import pytest

from llm_sandbox.exceptions import (
    CommandFailedError,
    LaunchError,
    PathError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.testing.suite import MakeSandbox, Suite

__all__ = ["EnvironmentSuite"]

_METACHARACTERS = " \t\n!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~$(id)`id`${HOME}\\n*?~;&&||>x<y\r"
_SHOW = ("python3", "-c", "import sys; sys.stdout.write(ascii(sys.argv[1:]))")
_SECRET = "tr0ub4dor-and-3"  # noqa: S105 - stands for one


class EnvironmentSuite(Suite):
    """Behaviours of arguments, environment, working directory, user and isolation."""

    def test_no_shell_sees_the_words(self, shared: Sandbox) -> None:
        """A word of every shell metacharacter arrives as it is."""
        words = [_METACHARACTERS, *_METACHARACTERS, "--", "-e", "$HOME"]

        assert shared.exec(*_SHOW, *words).collect().stdout == ascii(words)

    def test_empty_words_arrive(self, shared: Sandbox) -> None:
        """An empty word is a word."""
        assert shared.exec(*_SHOW, "", "a", "").collect().stdout == ascii(["", "a", ""])

    def test_1_mib_of_words_arrives(self, shared: Sandbox) -> None:
        """Words of 1 MiB together are passed on."""
        words = ["x" * 65536] * 16
        program = "import sys; print(sum(map(len, sys.argv[1:])))"

        assert shared.exec("python3", "-c", program, *words).collect().stdout == f"{1 << 20}\n"

    def test_a_word_too_long_is_a_launch_error(self, shared: Sandbox) -> None:
        """A word longer than the kernel takes is a launch error, and harms nothing."""
        with pytest.raises(LaunchError) as caught:
            shared.exec("true", "x" * (1 << 20))

        assert caught.value.kind == "other"
        assert shared.exec("true").wait() == 0

    def test_words_of_any_bytes_arrive(self, shared: Sandbox) -> None:
        """Text beyond ASCII and bytes that are not UTF-8 arrive as they were."""
        result = shared.exec("printf", "%s", "grün €", os.fsdecode(b"\xff\xfe"))

        assert result.stdout.bytes() == "grün €".encode() + b"\xff\xfe"

    @pytest.mark.parametrize("word", ["a\0b", 5, b"bytes", None, "\ud800"])
    def test_words_that_cannot_be_passed_are_refused(self, shared: Sandbox, word: object) -> None:
        """A word with NUL, a lone surrogate or another type is refused before anything starts."""
        with pytest.raises(ValidationError):
            shared.exec("echo", word)  # type: ignore[arg-type]

    def test_variables_arrive(self, make: MakeSandbox) -> None:
        """Variables of the sandbox reach every program, and a program's own come over them."""
        sandbox = make(env={"KEPT": "outer", "CHANGED": "outer"})
        result = sandbox.sh("echo $KEPT $CHANGED $NEW", env={"CHANGED": "inner", "NEW": "new"})

        assert result.collect().stdout == "outer inner new\n"

    def test_values_may_be_any_text(self, shared: Sandbox) -> None:
        """A value holds newlines, quotes, equal signs and any character."""
        value = "a=b\n'\"$HOME`id`€"

        assert shared.exec("printenv", "VALUE", env={"VALUE": value}).stdout.read() == value + "\n"

    @pytest.mark.parametrize(
        "env", [{"": "x"}, {"A=B": "x"}, {"A\0": "x"}, {"A": "x\0"}, {"A": 1}, {5: "x"}]
    )
    def test_variables_that_cannot_be_are_refused(
        self, shared: Sandbox, env: dict[str, str]
    ) -> None:
        """A name that is empty or holds `=`, a NUL, or a value that is no text is refused."""
        with pytest.raises(ValidationError):
            shared.exec("true", env=env)

    def test_the_hosts_variables_stay_outside(
        self, shared: Sandbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No variable of the host process is passed on."""
        monkeypatch.setenv("HOST_CANARY", _SECRET)

        assert _SECRET not in shared.exec("env").collect().stdout

    def test_secrets_reach_programs_and_nothing_else(self, make: MakeSandbox) -> None:
        """A secret is in the program's environment, and in no repr, error or process list."""
        sandbox = make(secrets={"TOKEN": _SECRET})
        with pytest.raises(CommandFailedError) as caught:
            sandbox.check("sh", "-c", "echo $TOKEN; exit 1")
        process = sandbox.sh('printf %s "$TOKEN"; sleep 30')
        assert next(process.stdout.chunks()) == _SECRET
        lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _alive(path)]
        process.kill()

        error = caught.value
        for text in (repr(sandbox), repr(process), str(error), str(error.to_dict())):
            assert _SECRET not in text
        assert not [line for line in lines if _SECRET.encode() in line]

    def test_refusals_do_not_show_values(self, make: MakeSandbox) -> None:
        """The error about a variable that cannot be passed does not hold its value."""
        for options in ({"secrets": {"TOKEN": _SECRET + "\0"}}, {"env": {"A": _SECRET + "\ud800"}}):
            with pytest.raises(ValidationError) as caught:
                make(**options)
            assert _SECRET not in str(caught.value) + str(caught.value.to_dict())

    def test_the_working_directory_is_the_sandboxs(self, shared: Sandbox) -> None:
        """Programs start in the working directory, which is empty, writable and their home."""
        result = shared.sh("pwd; echo $HOME; touch probe && rm probe").collect()

        assert (result.stdout, result.exit_code) == (f"{shared.workdir}\n" * 2, 0)

    def test_a_working_directory_is_relative_to_it(self, shared: Sandbox) -> None:
        """`cwd` is absolute, or relative to the working directory."""
        shared.files.mkdir("deep/er")

        assert shared.exec("pwd", cwd="deep/er").stdout.read() == f"{shared.workdir}/deep/er\n"
        assert shared.exec("pwd", cwd="/usr").stdout.read() == "/usr\n"

    def test_a_working_directory_that_is_no_path_is_refused(self, shared: Sandbox) -> None:
        """`cwd` with a NUL is refused."""
        with pytest.raises(PathError):
            shared.exec("true", cwd="a\0b")

    @pytest.mark.parametrize("user", ["root", 0, "nobody", 1000])
    def test_another_user_is_refused(self, shared: Sandbox, user: object) -> None:
        """Running as a user that there is not is refused, never ignored."""
        with pytest.raises(UnsupportedError):
            shared.exec("true", user=user)  # type: ignore[arg-type]

    def test_the_one_user_can_be_named(self, shared: Sandbox) -> None:
        """The sandbox's user is accepted by name and number."""
        self.need(shared, "privileges")

        assert shared.exec("id", "-un", user="sandbox").stdout.read() == "sandbox\n"
        assert shared.exec("id", "-u", user=65532).stdout.read() == "65532\n"

    def test_no_descriptor_is_inherited(self, shared: Sandbox) -> None:
        """A program has three descriptors and no more."""
        program = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4])"

        # The fourth is the listing's own.
        assert shared.exec("python3", "-c", program).stdout.read() == "[0, 1, 2, 3]\n"

    def test_signals_are_as_usual(self, shared: Sandbox) -> None:
        """No signal is ignored or blocked when a program starts."""
        result = shared.sh("grep -E '^Sig(Ign|Blk)' /proc/self/status").collect()

        # 32 and 33 are the C library's own: it lets nobody set them, and ignored they mean nothing.
        reserved = 0b11 << 31
        masks = [int(word, 16) & ~reserved for word in result.stdout.split()[1::2]]
        assert masks == [0, 0], result.stdout

    def test_there_is_no_terminal(self, shared: Sandbox) -> None:
        """A program has no terminal to take over or to be asked by."""
        assert shared.sh("test -t 0 || test -t 1 || : < /dev/tty").collect().exit_code != 0

    def test_the_umask_is_022(self, shared: Sandbox) -> None:
        """New files are readable by all and writable by their owner, whatever the host's umask."""
        assert shared.sh("umask").collect().stdout in ("0022\n", "022\n")

    def test_text_is_utf8(self, shared: Sandbox) -> None:
        """Programs print text beyond ASCII without being told how."""
        assert shared.exec("python3", "-c", "print('€')").stdout.read() == "€\n"

    # --- isolation

    def test_the_report_names_every_resource(self, shared: Sandbox) -> None:
        """The isolation report says of each resource what holds it, and by what."""
        report = shared.isolation

        assert report.backend == shared.backend
        for resource in ("files", "network", "processes", "privileges", "memory", "disk"):
            assert report.state(resource) in ("enforced", "approximated", "absent")
            assert report.controls[resource].by

    def test_programs_have_no_privileges(self, shared: Sandbox) -> None:
        """A program is not user 0, has no capability and can gain none."""
        self.need(shared, "privileges")
        said = shared.sh("id -u; grep -E '^(Cap|NoNewPrivs)' /proc/self/status").collect().stdout
        user, *rest = said.split("\n")[:-1]

        assert user != "0"
        assert {int(line.split()[1], 16) for line in rest if line.startswith("Cap")} == {0}
        assert "NoNewPrivs:\t1" in rest

    def test_the_hosts_files_are_not_there(self, shared: Sandbox, tmp_path: Path) -> None:
        """A file of the host is not seen, nor are its home directories and accounts."""
        self.need(shared, "files")
        canary = tmp_path / "canary"
        canary.write_text(_SECRET)
        result = shared.sh(
            f"cat {canary} /etc/shadow; ls -A /root /home; ls {Path.cwd()}"
        ).collect()

        assert _SECRET not in result.stdout + result.stderr
        assert result.stdout.replace("/home:", "").strip() in ("", "/root:")

    def test_nothing_outside_is_writable(self, shared: Sandbox) -> None:
        """Only the working directory and the temporary directories can be written."""
        self.need(shared, "files")
        places = "/ /usr /etc /opt /home /var /proc/sys/kernel /dev /run /opt/llm_sandbox/guest"
        result = shared.sh(f"for d in {places}; do touch $d/probe 2>/dev/null && echo $d; done")

        assert result.stdout.read() == ""

    def test_sandboxes_share_no_temporary_directory(
        self, shared: Sandbox, make: MakeSandbox
    ) -> None:
        """A file in one sandbox's temporary directories is not in another's."""
        self.need(shared, "files")
        shared.sh("touch /tmp/mine /dev/shm/mine /var/tmp/mine").wait()

        assert make().sh("ls -A /tmp /dev/shm /var/tmp | grep mine").collect().stdout == ""

    def test_other_processes_are_not_there(self, shared: Sandbox, own: Sandbox) -> None:
        """A program sees its own sandbox's processes only."""
        self.need(shared, "processes")
        process = own.exec("sleep", "4242")

        assert "4242" not in shared.sh("cat /proc/[0-9]*/cmdline").collect().stdout
        process.kill()

    def test_there_is_no_network(self, shared: Sandbox) -> None:
        """There is no interface but loopback, and no route to anywhere."""
        self.need(shared, "network")
        program = (
            "import socket\n"
            "print([name for _, name in socket.if_nameindex()])\n"
            "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
            "try: s.connect(('192.0.2.1', 9)); print('route')\n"
            "except OSError: print('none')\n"
        )

        assert shared.exec("python3", "-c", program).stdout.read() == "['lo']\nnone\n"

    def test_loopback_works(self, shared: Sandbox) -> None:
        """Programs of one sandbox reach each other over loopback."""
        program = (
            "import socket\n"
            "server = socket.create_server(('127.0.0.1', 0))\n"
            "client = socket.create_connection(server.getsockname())\n"
            "server.accept()[0].sendall(b'hello'); print(client.recv(5))\n"
        )

        assert shared.exec("python3", "-c", program).stdout.read() == "b'hello'\n"

    def test_the_disk_limit_holds(self, make: MakeSandbox) -> None:
        """A full working directory is an error in the program, and is cleared by removing."""
        sandbox = make(limits=Limits(workdir_bytes=4 << 20, tmp_bytes=1 << 20))
        self.need(sandbox, "disk")
        if sandbox.isolation.state("disk") != "enforced":
            pytest.skip("the disk limit is approximated here")
        result = sandbox.sh("head -c 8000000 /dev/zero > big; head -c 2000000 /dev/zero > /tmp/big")

        assert result.stderr.read().count("No space left on device") == 2
        assert sandbox.files.stat("big").size <= 4 << 20
        assert sandbox.sh("rm big && echo again > big").wait() == 0

    def test_the_inode_limit_holds(self, make: MakeSandbox) -> None:
        """A sandbox cannot hold more files than its limit."""
        sandbox = make(limits=Limits(inodes=100))
        self.need(sandbox, "disk")
        if sandbox.isolation.state("disk") != "enforced":
            pytest.skip("the disk limit is approximated here")
        result = sandbox.sh("n=0; while [ $n -lt 300 ] && true > f$n; do n=$((n+1)); done; ls")

        assert 0 < len(list(result.stdout.lines())) <= 100


def _alive(path: Path) -> bool:
    try:
        path.read_bytes()
    except OSError:
        return False
    return True
