"""Prove, before the first use, that what the isolation report promises holds here; fail closed."""

import hashlib
import os
import platform
from pathlib import Path

from llm_sandbox.backends.base import Machine, ProcessSpec
from llm_sandbox.backends.bubblewrap.binary import Bwrap
from llm_sandbox.exceptions import BackendUnavailableError, IsolationUnavailableError

__all__ = ["explain_failure", "proof_file", "verify"]

_PROBE = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
found = []
lines = open('/proc/self/status').read().splitlines()
status = dict(line.split(':\\t', 1) for line in lines if ':\\t' in line)
for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'):
    if int(status[name], 16): found.append(name)
if status['NoNewPrivs'] != '1': found.append('new privileges')
if status['Seccomp'] != '2': found.append('no seccomp')
if os.getuid() == 0: found.append('user 0')
for flag in (0x10000000, 0x00020000, 0x40000000):
    if libc.unshare(flag) == 0: found.append('unshare')
for path in ('/proc/sys/kernel/core_pattern', '/usr/x', '/x', '/etc/x', '/opt/x'):
    try:
        os.close(os.open(path, os.O_WRONLY | (0 if 'sys' in path else os.O_CREAT)))
        found.append('writable ' + path)
    except OSError: pass
for path in ('/root', '/boot', '/sys/kernel'):
    if os.path.exists(path): found.append('visible ' + path)
if [n for _, n in socket.if_nameindex() if n != 'lo']: found.append('network interfaces')
if max(int(p) for p in os.listdir('/proc') if p.isdigit()) > 64: found.append('foreign processes')
print('leaks:', ', '.join(found))
"""


def verify(machine: Machine, bwrap: Bwrap) -> None:
    """Run the probe in a machine.

    Raises:
        IsolationUnavailableError: A promise does not hold here.
    """
    spec = ProcessSpec(
        (machine.python(), "-I", "-S", "-c", _PROBE), machine.base_env(), timeout_s=20
    )
    raw = machine.start(spec)
    with open(raw.stdout, encoding="utf-8", errors="replace") as out:
        said = out.read()
    with open(raw.stderr, encoding="utf-8", errors="replace") as err:
        complaint = err.read()
    ended = raw.ending.wait(30)
    if said.strip() == "leaks:":
        return
    words = said.strip() or complaint.strip() or f"the probe ended with {ended}"
    raise IsolationUnavailableError(
        f"bubblewrap ({bwrap.path}) does not isolate on this machine: {words}",
        backend="bubblewrap",
        hint="report this with the output of: llm-sandbox doctor",
    )


def proof_file(folder: Path, bwrap: Bwrap) -> Path:
    """Where it is noted that the probe passed: named by everything its outcome depends on.

    Args:
        folder: The cache folder.
        bwrap: The program that was probed.
    """
    program = bwrap.path.stat()
    facts = (
        _PROBE,
        str(bwrap.path),
        program.st_mtime_ns,
        program.st_size,
        platform.release(),
        platform.machine(),
        os.geteuid(),
        _read("/proc/sys/kernel/random/boot_id"),
    )
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
    return folder / "proofs" / f"bubblewrap-{digest}"


def explain_failure(error: BackendUnavailableError) -> IsolationUnavailableError:
    """Turn "it did not start" into why this machine refuses, and what to do."""
    reason, hint = _cause()
    if reason is None and error.hint is not None:
        hint = error.hint
    return IsolationUnavailableError(
        f"this machine cannot isolate with bubblewrap: {reason or error.message}",
        backend="bubblewrap",
        hint=hint,
    )


def _cause() -> tuple[str | None, str]:
    if _read("/proc/sys/user/max_user_namespaces") == "0":
        return "user namespaces are switched off", "sysctl -w user.max_user_namespaces=15000"
    if _read("/proc/sys/kernel/unprivileged_userns_clone") == "0" and os.geteuid() != 0:
        return (
            "user namespaces are for root only",
            "sysctl -w kernel.unprivileged_userns_clone=1",
        )
    if _read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor restricts user namespaces",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        )
    return None, "if this is inside a container, start it with --security-opt seccomp=unconfined"


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return None
