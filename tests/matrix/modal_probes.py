"""Modal's members of a living sandbox, tried on each backend; and its classes."""

from __future__ import annotations

import contextlib
import inspect
import socket
import ssl
import time
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Snapshot
from llm_sandbox.adapters import modal
from llm_sandbox.adapters.modal import Sandbox, StreamType
from llm_sandbox.adapters.modal.exception import (
    InvalidError,
    SandboxTerminatedError,
    SandboxTimeoutError,
)
from tests.matrix.probes import Probes, forget

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT = 7000
SERVER = (
    "import socket; s = socket.create_server(('127.0.0.1', 7000));\n"
    "while True: c = s.accept()[0]; c.sendall(b'a page'); c.close()"
)
WAIT_S = 30.0

probe: Probes[Modal] = Probes()


class Modal:
    """A backend, chosen as Modal's programs choose it, and a sandbox that its probes share."""

    def __init__(self, backend: str) -> None:
        self.backend = backend

    def use(self) -> None:
        modal.configure(backend=self.backend, network="blocked")

    @cached_property
    def app(self) -> modal.App:
        return modal.App.lookup(f"matrix-{self.backend}", create_if_missing=True)

    @cached_property
    def sandbox(self) -> Sandbox:
        return Sandbox.create(app=self.app)

    def close(self) -> None:
        self.use()
        if "sandbox" in vars(self):
            self.sandbox.terminate()

    @contextmanager
    def create(self, *command: str, **options: Any) -> Iterator[Sandbox]:
        """A sandbox of a probe's own."""
        made = Sandbox.create(*command, **{"app": self.app, **options})
        try:
            yield made
        finally:
            made.terminate()

    def output(self, *command: str, **options: Any) -> str:
        """What a program prints in the shared sandbox."""
        return said(self.sandbox, *command, **options)


def said(sandbox: Sandbox, *command: str, **options: Any) -> str:
    """What a program prints in a sandbox."""
    process = sandbox.exec(*command, **options)
    text: str = process.stdout.read()
    assert 0 == process.wait(), process.stderr.read()
    return text


# --- data


@probe("StreamType")
def stream_type() -> None:
    assert {"PIPE", "DEVNULL", "STDOUT"} == {kind.name for kind in StreamType}


@probe("SandboxTimeoutError")
def timeout_error() -> None:
    assert issubclass(SandboxTimeoutError, modal.exception.TimeoutError)
    assert issubclass(SandboxTimeoutError, TimeoutError)


@probe("class")
def sandbox_class() -> None:
    """It is made by `create` and by nothing else that programs say."""
    assert inspect.isclass(Sandbox)
    with pytest.raises(TypeError):
        Sandbox()


# --- exec


@probe("exec-cmds")
def exec_cmds(face: Modal) -> None:
    """Words are words: no shell sees them."""
    assert "a b $HOME|" == face.output("printf", "%s|", "a b $HOME")
    process = face.sandbox.exec("sh", "-c", "exit 3")
    assert 3 == process.wait() == process.returncode


@probe("exec-stdout", "exec-stderr")
def exec_streams(face: Modal) -> None:
    """A stream comes to the process, or is dropped."""
    script = ("sh", "-c", "echo out; echo err >&2")
    both = face.sandbox.exec(*script)
    assert ("out\n", "err\n") == (both.stdout.read(), both.stderr.read())
    out = face.sandbox.exec(*script, stderr=StreamType.DEVNULL)
    assert "out\n" == out.stdout.read()
    with pytest.raises(ValueError, match="DEVNULL"):
        out.stderr.read()
    err = face.sandbox.exec(*script, stdout=StreamType.DEVNULL)
    assert "err\n" == err.stderr.read()
    with pytest.raises(ValueError, match="DEVNULL"):
        err.stdout.read()


@probe("exec-timeout")
def exec_timeout(face: Modal) -> None:
    """The program is killed, and its exit code is -1; what it wrote is there."""
    process = face.sandbox.exec("sh", "-c", "echo begun; sleep 600", timeout=1)
    assert -1 == process.wait()
    assert "begun\n" == process.stdout.read()


@probe("exec-workdir")
def exec_workdir(face: Modal) -> None:
    assert "/usr\n" == face.output("pwd", workdir="/usr")
    with pytest.raises(InvalidError, match="workdir"):
        face.sandbox.exec("pwd", workdir="usr")


@probe("exec-secrets")
def exec_secrets(face: Modal) -> None:
    """They are variables of this program, and of no other."""
    secret = modal.Secret.from_dict({"TOKEN": "t0ken"})
    assert "t0ken\n" == face.output("sh", "-c", "echo $TOKEN", secrets=[secret])
    assert "\n" == face.output("sh", "-c", "echo $TOKEN")


@probe("exec-text")
def exec_text(face: Modal) -> None:
    process = face.sandbox.exec("printf", r"\377\000x", text=False)
    assert b"\xff\x00x" == process.stdout.read()


@probe("exec-bufsize")
def exec_bufsize(face: Modal) -> None:
    """1 is whole lines, of text only."""
    process = face.sandbox.exec("sh", "-c", "printf a; sleep 0.1; printf 'b\\nc'", bufsize=1)
    assert ["ab\n", "c"] == list(process.stdout)
    with pytest.raises(ValueError, match="text"):
        face.sandbox.exec("true", bufsize=1, text=False)


# --- how a sandbox ends


@probe("create-entrypoint_args", "poll", "returncode", "wait")
def entrypoint(face: Modal) -> None:
    """The sandbox ends with it, and has its exit code, which is no error."""
    script = "echo $0 $1; read line; exit 7"
    with face.create("sh", "-c", script, "a", "b c") as sandbox:
        assert "a b c\n" == next(iter(sandbox.stdout))
        assert (None, None) == (sandbox.poll(), sandbox.returncode)
        sandbox.stdin.write("\n")
        sandbox.stdin.drain()
        sandbox.wait()
        assert (7, 7) == (sandbox.poll(), sandbox.returncode)


@probe("terminate", "wait-raise_on_termination")
def terminate(face: Modal) -> None:
    """It ends, twice harms nothing, and whoever waits hears of it unless told otherwise."""
    with face.create("sleep", "600") as sandbox:
        sandbox.terminate()
        sandbox.terminate()
        with pytest.raises(SandboxTerminatedError):
            sandbox.wait()
        sandbox.wait(raise_on_termination=False)
        assert 137 == sandbox.poll()


@probe("create-timeout")
def timeout(face: Modal) -> None:
    with face.create("sleep", "600", timeout=1) as sandbox:
        with pytest.raises(SandboxTimeoutError):
            sandbox.wait()
        assert 124 == sandbox.returncode


# --- how a sandbox is found


@probe("object_id", "from_id")
def from_id(face: Modal) -> None:
    other = Sandbox.from_id(face.sandbox.object_id)
    assert face.sandbox.object_id == other.object_id
    assert "here\n" == said(other, "echo", "here")
    with pytest.raises(modal.exception.NotFoundError):
        Sandbox.from_id(f"sb-{0:016x}")


@probe("list", "list-app_id")
def listed(face: Modal) -> None:
    """Living ones, of one app or of all."""
    mine = face.sandbox.object_id
    assert mine in [one.object_id for one in Sandbox.list()]
    assert mine in [one.object_id for one in Sandbox.list(app_id=face.app.app_id)]
    other = modal.App.lookup("matrix-other", create_if_missing=True)
    assert mine not in [one.object_id for one in Sandbox.list(app_id=other.app_id)]


@probe("set_tags", "list-tags")
def tags(face: Modal) -> None:
    """They replace all, and a sandbox is found by some of them."""
    mine = face.sandbox.object_id
    face.sandbox.set_tags({"old": "1"})
    face.sandbox.set_tags({"team": "a", "kind": "b"})
    assert mine in [one.object_id for one in Sandbox.list(tags={"team": "a"})]
    assert mine not in [one.object_id for one in Sandbox.list(tags={"old": "1"})]
    assert mine not in [one.object_id for one in Sandbox.list(tags={"team": "a", "kind": "c"})]


@probe("create-client")
def create_client(face: Modal) -> None:
    with face.create(client=object()):
        pass


@probe("from_id-client")
def from_id_client(face: Modal) -> None:
    Sandbox.from_id(face.sandbox.object_id, client=object())


@probe("set_tags-client")
def set_tags_client(face: Modal) -> None:
    face.sandbox.set_tags({}, client=object())


@probe("list-client")
def list_client(face: Modal) -> None:
    list(Sandbox.list(client=object()))


# --- its entrypoint's streams


@probe("stdout", "stderr")
def streams(face: Modal) -> None:
    """The entrypoint's, from the first byte, by any handle; what `exec` runs is no part of it."""
    with face.create("sh", "-c", "echo out; echo err >&2; sleep 600") as sandbox:
        assert "out\n" == next(iter(sandbox.stdout))
        assert "err\n" == next(iter(sandbox.stderr))
        said(sandbox, "echo", "other")
        assert "out\n" == next(iter(Sandbox.from_id(sandbox.object_id).stdout))


@probe("stdin")
def stdin(face: Modal) -> None:
    """It gets what was drained, and the end."""
    with face.create("cat") as sandbox:
        sandbox.stdin.write(b"one ")
        sandbox.stdin.write("two")
        sandbox.stdin.write_eof()
        sandbox.stdin.drain()
        assert "one two" == sandbox.stdout.read()
        sandbox.wait()
        assert 0 == sandbox.returncode


# --- ports


@probe("create-unencrypted_ports", "tunnels", "tunnels-timeout")
def tunnels(face: Modal) -> None:
    """What listens in the sandbox is reached from here."""
    with face.create("python3", "-c", SERVER, unencrypted_ports=[PORT]) as sandbox:
        tunnel = sandbox.tunnels(timeout=30)[PORT]
        assert b"a page" == answer(tunnel.tcp_socket)


def answer(address: tuple[str, int], tls: ssl.SSLContext | None = None) -> bytes:
    """What is said first there, once something listens."""
    end = time.monotonic() + WAIT_S
    while True:
        found = b""
        with (
            contextlib.suppress(ConnectionResetError, ssl.SSLEOFError),
            socket.create_connection(address, WAIT_S) as plain,
            tls.wrap_socket(plain, server_hostname="localhost") if tls else plain as connection,
        ):
            found = connection.recv(100)
        if found or time.monotonic() > end:
            return found
        time.sleep(0.05)


@probe("create-encrypted_ports")
def encrypted_ports(face: Modal) -> None:
    """What listens there is reached by whoever trusts the sandbox's certificate, once allowed."""
    before = modal.configure(tls="self-signed")
    try:
        with face.create("python3", "-c", SERVER, encrypted_ports=[PORT]) as sandbox:
            tunnel = sandbox.tunnels()[PORT]
            context = ssl.create_default_context(cadata=tunnel.certificate)
            assert b"a page" == answer(tunnel.tls_socket, context)
    finally:
        modal.configure(tls=before.tls)


# --- snapshots


@probe("snapshot_filesystem", "snapshot_filesystem-timeout")
def snapshot(face: Modal) -> None:
    """A new sandbox has the files of the saved one."""
    said(face.sandbox, "sh", "-c", "echo saved > mark")
    try:
        where = face.output("pwd").strip()
        image = face.sandbox.snapshot_filesystem(timeout=60)
    finally:
        said(face.sandbox, "rm", "mark")
    with face.create(image=image) as restored:
        assert "saved\n" == said(restored, "cat", f"{where}/mark")
    for saved in Snapshot.list(face.backend):
        if image.object_id == f"im-{saved.ref.removeprefix('sha256:')}":
            forget(saved)
            return
    raise AssertionError("the snapshot is not listed")
