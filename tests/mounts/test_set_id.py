"""No program inside makes a file of the host that gives whoever runs it the rights of its owner."""

import os
import platform
import stat
import textwrap

import pytest

from llm_sandbox import Bind, Volume
from tests.mounts.conftest import run

ATTACKS = """
import ctypes, errno, os, stat, sys
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {"x86_64": (437, 452), "aarch64": (437, 452)}[os.uname().machine]
refused = []

def attack(name, act):
    try:
        act()
    except OSError as error:
        refused.append(f"{name}:{errno.errorcode[error.errno]}")
    except AttributeError:
        refused.append(f"{name}:absent")

def call(number, *arguments):
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if libc.syscall(ctypes.c_long(number), *words) < 0:
        raise OSError(ctypes.get_errno(), "refused")

def opened(path, flags, mode):
    os.close(os.open(path, flags, mode))

def temporary():
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o4755)
    if libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, b"linked", 0x400) < 0:
        raise OSError(errno.EXDEV, "the test itself")

def kept():
    fd = os.open("held", os.O_CREAT | os.O_RDWR, 0o755)
    os.fchmod(fd, 0o6755)

def socketed():
    import socket
    one = socket.socket(socket.AF_UNIX)
    os.fchmod(one.fileno(), 0o4755)
    one.bind("sock")

os.umask(0)
open("plain", "w").close()
attack("chmod", lambda: os.chmod("plain", 0o4755))
attack("chmod-group", lambda: os.chmod("plain", 0o2755))
attack("fchmod", kept)
attack("fchmodat", lambda: os.chmod("plain", 0o4755, dir_fd=os.open(".", os.O_RDONLY)))
attack("fchmodat2", lambda: call(NUMBERS[1], -100, b"plain", 0o4755, 0))
attack("open", lambda: opened("opened", os.O_CREAT | os.O_WRONLY, 0o4755))
attack("tmpfile", temporary)
attack("mknod", lambda: os.mknod("made", stat.S_IFREG | 0o6755))
how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o4755, 0)
attack("openat2", lambda: call(NUMBERS[0], -100, b"seen", how, ctypes.sizeof(how)))
attack("socket", socketed)
if os.uname().machine == "x86_64":
    attack("old-open", lambda: call(2, b"old", os.O_CREAT | os.O_WRONLY, 0o4755))
    attack("old-creat", lambda: call(85, b"created", 0o4755))
    attack("old-chmod", lambda: call(90, b"plain", 0o4755))
    attack("old-mknod", lambda: call(133, b"oldmade", stat.S_IFREG | 0o4755, 0))
os.chmod("plain", 0o755)
os.mkdir("folder", 0o777)
os.chmod("folder", 0o1777)
print(" ".join(refused))
"""


def bits_in(folder):
    """What in a folder of the host runs with other rights than those of whoever runs it."""
    return sorted(
        path.name
        for path in folder.rglob("*")
        if path.lstat().st_mode & (stat.S_ISUID | stat.S_ISGID)
    )


def attack(sandbox, where):
    sandbox.files.write_bytes("attack.py", ATTACKS.encode())
    said, code = run(sandbox, f"cd {where} && python3 /sandbox/attack.py")
    assert 0 == code, said
    return said.split()


@pytest.mark.redteam
def test_a_file_of_the_host_never_becomes_one_that_gives_rights(make, backend, folder):
    sandbox = make(backend=backend, mounts={"/out": Bind(folder, read_only=False)})
    refused = attack(sandbox, "/out")
    assert [] == bits_in(folder)
    # Everything was refused, and what has no such bits was not.
    assert len(refused) == (14 if platform.machine() == "x86_64" else 10), refused
    assert {"EPERM", "ENOSYS"} >= {one.rpartition(":")[2] for one in refused}
    assert 0o755 == stat.S_IMODE((folder / "plain").stat().st_mode)
    assert 0o1777 == stat.S_IMODE((folder / "folder").stat().st_mode)


@pytest.mark.redteam
def test_nor_one_of_a_volume(make, backend, own_volumes):
    sandbox = make(backend=backend, mounts={"/cache": Volume("shared")})
    attack(sandbox, "/cache")
    run(sandbox, "cp /bin/sh /cache/sh; chmod 6755 /cache/sh; chmod u+s,g+s /cache/sh")
    files = own_volumes / "shared" / "files"
    assert (files / "sh").exists()
    assert [] == bits_in(files)


def test_without_the_rule_the_bits_are_set(make, backend, folder, monkeypatch):
    """The control: the attacks work where nothing refuses them."""
    for place in ("bubblewrap.backend", "containers.backend", "containers.creation.arguments"):
        monkeypatch.setattr(f"llm_sandbox.backends.{place}.writes_to_host", lambda mounts: False)
    sandbox = make(backend=backend, mounts={"/out": Bind(folder, read_only=False)})
    attack(sandbox, "/out")
    assert {"held", "linked", "made", "opened", "seen", "sock"} <= {*bits_in(folder)}
    assert (folder / "opened").stat().st_uid == os.geteuid()


def test_kernels_are_under_the_rule_as_well(backend, folder):
    from llm_sandbox import create_session

    code = textwrap.dedent("""
        import os
        open("/out/a", "w").close()
        try:
            os.chmod("/out/a", 0o4755)
        except PermissionError:
            print("refused")
    """)
    mounts = {"/out": Bind(folder, read_only=False)}
    with create_session(backend=backend, lang="python", mounts=mounts) as session:
        assert "refused" in session.run(code).stdout
    assert [] == bits_in(folder)


def test_sandboxes_without_such_a_folder_may_have_them(make, backend, folder):
    """There they mean nothing outside, and programs that keep them would fail."""
    sandbox = make(backend=backend, mounts={"/data": Bind(folder)})
    assert ("", 0) == run(sandbox, "touch a && chmod 4755 a && mkdir b && chmod g+s b")
