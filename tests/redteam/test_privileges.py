"""No capability, no namespace, no door to the kernel that an interpreter does not need."""

# ruff: noqa: E501
# Because: a table is easier to read with its entries together.

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the attack's call numbers are x86_64's"
)

ENOSYS = {
    "clone3", "io_uring_setup", "fsopen", "move_mount", "mount_setattr", "open_tree", "statmount",
    "listmount", "memfd_secret", "number_471", "number_480", "number_511", "number_600",
}  # fmt: skip
NO_CONTROL = {"number_471", "number_480", "number_511", "number_600"}
"""No kernel has these yet, so that no control can succeed."""
OWN_BWRAP = (
    "bwrap", "--unshare-user", "--unshare-uts", "--uid", "0", "--gid", "0", "--cap-add", "ALL",
    "--dev-bind", "/", "/", "--",
)  # fmt: skip
"""A sandbox of the test's own: a user namespace with every capability, and no filter."""


def refused(answers: dict[str, Any]) -> dict[str, str]:
    facts = dict(answers)
    for name in ("status", "suid_mounts"):
        facts.pop(name)
    return facts


def test_every_call_is_refused(
    session: Any, inside: Callable[..., dict[str, Any]], corpus: Callable[..., str]
) -> None:
    """Each dangerous call fails inside with the error of the table, and none ends the caller."""
    answers = refused(inside(session, corpus("syscalls.py")))
    wrong = {
        name: said
        for name, said in answers.items()
        if said != ("ENOSYS" if name in ENOSYS else "EPERM")
    }
    # A child of one's own may be read, though not traced.
    assert wrong.pop("memory_of_sibling", "ok") == "ok"
    # Reading the memory of init is refused by file permissions, which say so differently.
    assert wrong.pop("memory_of_init", "EACCES") == "EACCES"
    # User 0 is not mapped, which is no permission question at all.
    for name in ("setuid", "setgid", "seteuid"):
        assert wrong.pop(name, "EPERM") in ("EINVAL", "EPERM")
    assert wrong == {}


def test_the_same_calls_work_elsewhere(
    outside: Callable[..., dict[str, Any]], corpus: Callable[..., str]
) -> None:
    """Each refused call gives another answer outside: plainly, as root, or in an unfiltered
    sandbox.
    """
    program = corpus("syscalls.py", on_host=True)
    controls = [refused(outside(program))]
    if shutil.which("bwrap"):
        controls.append(refused(outside(program, wrapper=OWN_BWRAP)))
    if os.geteuid() == 0:
        # In namespaces of its own, so that a control that succeeds changes nothing here.
        apart = ("unshare", "--mount", "--uts", "--ipc", "--propagation", "private")
        controls.append(refused(outside(program, root=True, wrapper=apart)))
    dead = [
        name
        for name in controls[0]
        if name not in NO_CONTROL
        and all(said[name] == ("ENOSYS" if name in ENOSYS else "EPERM") for said in controls)
    ]
    # Calls that only host root may make, or that this kernel is built without, have no control here.
    allowed = set() if os.geteuid() == 0 else {
        "bpf", "delete_module", "finit_module", "init_module", "kexec_load", "mknod_block",
        "mknod_char", "quotactl", "reboot", "swapon", "syslog", "iopl", "ioperm", "tiocsti",
        "perf_event_open", "open_by_handle_at", "fanotify_init", "setuid", "setgid", "seteuid",
        "clone_NEWTIME", "unshare_NEWTIME",
    }  # fmt: skip
    allowed |= {"kexec_load", "memfd_secret", "quotactl", "userfaultfd"} & set(dead)
    print("no control on this kernel:", sorted(dead))
    assert set(dead) <= allowed
    assert len(dead) < len(controls[0]) / 2


def test_no_capability_is_left(
    session: Any,
    inside: Callable[..., dict[str, Any]],
    outside: Callable[..., dict[str, Any]],
    corpus: Callable[..., str],
) -> None:
    """All five capability sets are empty, no privilege can be gained, and a filter is on."""
    answers = inside(session, corpus("syscalls.py"))
    assert answers["status"] == {
        **dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0" * 16),
        "NoNewPrivs": "1",
        "Seccomp": "2",
    }
    assert answers["suid_mounts"] == []
    control = outside(corpus("syscalls.py", on_host=True))
    assert int(control["status"]["CapBnd"], 16) != 0
    assert control["status"]["NoNewPrivs"] == "0"
    assert control["suid_mounts"] != []


@pytest.mark.skipif(shutil.which("passwd") is None, reason="needs passwd, a set-user-id program")
def test_a_set_user_id_program_gains_nothing(
    session: Any,
    inside: Callable[..., dict[str, Any]],
    outside: Callable[..., dict[str, Any]],
    corpus: Callable[..., str],
) -> None:
    """`passwd`, which is user 0 by its set-user-id bit outside, is the sandbox's one user inside."""
    assert session.execute_command("test -u $(command -v passwd)").exit_code == 0
    assert inside(session, corpus("suid.py")) == {"uids": [65532]}
    assert 0 in outside(corpus("suid.py"))["uids"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_other_doors_to_the_kernel_are_shut(session: Any, tmp_path: Path) -> None:
    """A 32-bit call kills its process, and x32 and unknown call numbers answer ENOSYS."""
    from pathlib import Path as HostPath

    source = HostPath(__file__).parent / "corpus" / "abi.c"
    program = tmp_path / "abi"
    subprocess.run(["gcc", "-O1", "-o", str(program), str(source)], check=True)
    session.sandbox.files.write_bytes("abi", program.read_bytes(), mode=0o755)
    ended = session.sandbox.exec("./abi", "int80").collect()
    assert (ended.signal, ended.stdout) == (31, "")
    for door in ("x32", "number"):
        assert session.sandbox.exec("./abi", door).collect().stdout == "ENOSYS\n"
    control = subprocess.run([str(program), "int80"], capture_output=True, text=True)
    if control.stdout != "works\n":
        pytest.skip("this kernel has no 32-bit calls, so the attack proves nothing here")


def test_sandboxes_do_not_nest(session: Any) -> None:
    """Bwrap and unshare, which make namespaces, fail inside."""
    for words in (["unshare", "-r", "true"], ["bwrap", "--ro-bind", "/", "/", "true"]):
        result = session.execute_command(["sh", "-c", 'exec "$@"', "sh", *words])
        assert result.exit_code != 0
    if shutil.which("unshare"):
        assert subprocess.run(["unshare", "-r", "true"]).returncode == 0
