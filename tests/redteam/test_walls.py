"""Reads, writes and connections from inside to the host: nothing that was not granted."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import create_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Inside = "Callable[[Any, str], dict[str, Any]]"
FOLDERS = ["/root", "/home", "/boot", "/sys", "/var", "/run", "/srv", "/media", "/work"]


@pytest.fixture
def listeners() -> Iterator[dict[str, Any]]:
    """Canaries of the host that note who connects: a TCP port, and an abstract socket."""
    name = f"redteam-{secrets.token_hex(8)}"
    tcp = socket.create_server(("127.0.0.1", 0))
    local = socket.socket(socket.AF_UNIX)
    local.bind("\0" + name)
    local.listen()
    seen: list[str] = []

    def accept(server: socket.socket, kind: str) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            seen.append(kind)
            connection.close()

    threads = [
        threading.Thread(target=accept, args=pair, daemon=True)
        for pair in ((tcp, "tcp"), (local, "abstract"))
    ]
    for thread in threads:
        thread.start()
    yield {"port": tcp.getsockname()[1], "abstract": name, "seen": seen}
    for server in (tcp, local):
        server.shutdown(socket.SHUT_RDWR)
        server.close()
    for thread in threads:
        thread.join(2)


def test_no_file_of_the_host_can_be_found(
    session: Any,
    inside: Callable[..., dict[str, Any]],
    outside: Callable[..., dict[str, Any]],
    corpus: Callable[..., str],
    canary: tuple[str, dict[str, str]],
) -> None:
    """A program inside sees no canary file, no canary variable, no process but the sandbox's."""
    word, places = canary
    paths = [*places.values(), "/etc/shadow", f"/proc/{os.getpid()}/environ", "/proc/1/environ"]
    program = corpus("files.py", word=word, paths=paths, folders=FOLDERS)
    found = inside(session, program)
    assert found["pids"] < 12
    del found["pids"]
    assert found == {
        "read": [],
        "listed": ["/var"],  # holds nothing but the link /var/tmp
        "names": [],
        "environ": [],
        "sockets": [],
        "docker": [],
    }
    control = outside(program)
    assert places["tmp"] in control["read"]
    assert places["tmp"] in control["names"]
    assert "/home" in control["listed"] or "/sys" in control["listed"]
    assert control["pids"] > 20


@pytest.mark.root
def test_as_root_the_host_would_have_shown_everything(
    outside: Callable[..., dict[str, Any]],
    corpus: Callable[..., str],
    canary: tuple[str, dict[str, str]],
) -> None:
    """The canaries that root's sandbox does not find are found by root's plain process."""
    word, places = canary
    paths = [*places.values(), "/etc/shadow"]
    control = outside(
        corpus("files.py", word=word, paths=paths, folders=FOLDERS, most=1), root=True
    )
    assert set(control["read"]) == set(paths)
    assert "environ of another process" in control["environ"]


def test_nothing_can_be_written(
    session: Any,
    inside: Callable[..., dict[str, Any]],
    outside: Callable[..., dict[str, Any]],
    corpus: Callable[..., str],
    guarded: Callable[[], dict[str, str]],
) -> None:
    """No place but the sandbox's own sized file systems can be opened for writing."""
    before = guarded()
    program = corpus("writes.py", name=f"redteam-{secrets.token_hex(4)}", more=["/var/tmp"])
    assert inside(session, program) == {"written": ["/var/tmp"]}  # a link to the sandbox's /tmp
    assert guarded() == before
    if os.geteuid() == 0:
        control = outside(program, root=True)["written"]
        assert {"/etc", "/usr", "/opt", "/proc/sys/kernel/core_pattern"} <= set(control)
    else:
        assert "/var/tmp" in outside(program)["written"]


def test_what_is_writable_is_sized(session: Any) -> None:
    """Every writable mount is a file system in memory with size and inode limits, or a device."""
    program = """
import os
rows = [line.split() for line in open('/proc/self/mountinfo')]
for row in rows:
    kind = row[row.index('-') + 1]
    if 'ro' in row[5].split(','): continue
    info = os.statvfs(row[4])
    print(row[4], kind, info.f_blocks * info.f_frsize, info.f_files)
"""
    writable = {}
    for line in session.run(program).stdout.splitlines():
        path, kind, size, inodes = line.split()
        # The last mount of a path is what is seen.
        writable[path] = (kind, int(size), int(inodes))
    sized = {path for path, (kind, _, _) in writable.items() if kind == "tmpfs"}
    assert sized == {"/sandbox", "/tmp", "/dev/shm"}
    for path in sized:
        assert 0 < writable[path][1] <= session.config.limits.workdir_bytes
        assert 0 < writable[path][2] <= session.config.limits.inodes
    others = {kind for path, (kind, _, _) in writable.items() if path not in sized}
    assert others <= {"proc", "devpts", "devtmpfs"}


def test_no_address_can_be_reached(
    session: Any,
    inside: Callable[..., dict[str, Any]],
    outside: Callable[..., dict[str, Any]],
    corpus: Callable[..., str],
    listeners: dict[str, Any],
) -> None:
    """Neither the host's loopback, nor its abstract sockets, nor any route or name is there."""
    program = corpus("network.py", port=listeners["port"], abstract=listeners["abstract"])
    found = inside(session, program)
    assert listeners["seen"] == []
    assert found["tcp4"] == "ECONNREFUSED"
    assert found["abstract"] == "ECONNREFUSED"
    assert found["udp4"] == "ENETUNREACH"
    assert found["udp6"] in ("ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT")
    assert found["interfaces"] == ["lo"]
    assert found["dns"] == "error"
    assert found["dns_s"] < 3
    assert set(found["families"]) <= {1, 2, 10, 16}
    assert {protocol for _, protocol in found["netlink"]} <= {0}
    assert set(found["raw"]) <= {1, 16}  # a "raw" AF_UNIX socket is a datagram one
    assert set(found["protocols"]) == {"tcp", "udp"}
    control = outside(program)
    assert set(control["protocols"]) > {"tcp", "udp"}
    assert (control["tcp4"], control["abstract"]) == ("ok", "ok")
    assert set(listeners["seen"]) == {"tcp", "abstract"}
    assert 15 in {protocol for _, protocol in control["netlink"]}


@pytest.mark.root
def test_root_would_have_had_raw_sockets(
    outside: Callable[..., dict[str, Any]], corpus: Callable[..., str], listeners: dict[str, Any]
) -> None:
    """AF_PACKET and raw IP, which no sandbox gets, work for root's plain process."""
    program = corpus("network.py", port=listeners["port"], abstract=listeners["abstract"])
    control = outside(program, root=True)
    assert {2, 17} <= set(control["raw"])


def test_an_open_network_is_what_opens_the_host(
    corpus: Callable[..., str], listeners: dict[str, Any]
) -> None:
    """With network="open" the very same program reaches the canary, and the report says absent."""
    import json

    with create_session("bubblewrap", network="open", start="cold") as opened:
        program = corpus("network.py", port=listeners["port"], abstract=listeners["abstract"])
        result = opened.sandbox.exec("python3", "-", stdin=program, timeout=60).collect()
        found = json.loads(result.stdout.splitlines()[-1])
        assert found["tcp4"] == "ok"
        assert set(found["families"]) <= {1, 2, 10, 16}
        assert opened.isolation.state("network") == "absent"


def test_the_environment_of_the_host_does_not_come_along(session: Any) -> None:
    """No variable of the host's environment is there under its name with its value."""
    os.environ["REDTEAM_PLAIN"] = "from-the-host"
    try:
        with create_session("bubblewrap", start="cold") as cold:
            for opened in (session, cold):
                said = opened.run("import os; print(dict(os.environ))").stdout
                said += opened.execute_command("env").stdout
                assert "from-the-host" not in said
                assert "REDTEAM" not in said
    finally:
        del os.environ["REDTEAM_PLAIN"]
