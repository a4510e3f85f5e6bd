"""Prove, before the first use, that what the isolation report promises holds; fail closed."""

import hashlib
import os
import platform
from pathlib import Path

from llm_sandbox.backends.base import Machine, ProcessSpec
from llm_sandbox.backends.gvisor.binary import Runsc
from llm_sandbox.exceptions import IsolationUnavailableError

__all__ = ["proof_file", "verify"]

_PROBE = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
found = []
named = 'gvisor' in open('/proc/version').read().lower()
if not named and not os.path.exists('/proc/sentry-meminfo'): found.append('not a kernel of gVisor')
lines = open('/proc/self/status').read().splitlines()
status = dict(line.split(':\\t', 1) for line in lines if ':\\t' in line)
for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd'):
    if int(status[name], 16): found.append(name)
if libc.prctl(39, 0, 0, 0, 0) != 1: found.append('new privileges')
if status['Seccomp'] != '2': found.append('no seccomp')
if os.getuid() == 0: found.append('user 0')
for flag in (0x10000000, 0x00020000, 0x40000000):
    if libc.unshare(flag) == 0: found.append('unshare')
for path in ('/proc/sys/kernel/hostname', '/usr/x', '/x', '/etc/x', '/opt/x'):
    try:
        os.close(os.open(path, os.O_WRONLY | (0 if 'sys' in path else os.O_CREAT)))
        found.append('writable ' + path)
    except OSError: pass
for path in ('/root', '/boot', '/sys/kernel/debug'):
    if os.path.exists(path): found.append('visible ' + path)
if [n for _, n in socket.if_nameindex() if n != 'lo']: found.append('network interfaces')
if max(int(p) for p in os.listdir('/proc') if p.isdigit()) > 64: found.append('foreign processes')
print('leaks:', ', '.join(found))
"""


def verify(machine: Machine, runsc: Runsc) -> None:
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
        f"gVisor ({runsc.path}, {runsc.version}) does not isolate on this machine: {words}",
        backend="gvisor",
        hint="report this with the output of: llm-sandbox doctor",
    )


def proof_file(folder: Path, runsc: Runsc) -> Path:
    """Where it is noted on which platform the probe passed: named by everything its outcome depends
    on.

    Args:
        folder: The cache folder.
        runsc: The program that was probed.
    """
    program = runsc.path.stat()
    facts = (
        _PROBE,
        str(runsc.path),
        program.st_mtime_ns,
        program.st_size,
        platform.release(),
        platform.machine(),
        os.geteuid(),
        Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
    )
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
    return folder / "proofs" / f"gvisor-{digest}"
