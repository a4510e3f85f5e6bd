"""Self-test of a backend: proof, before the first use, that its isolation report is true here."""

import hashlib
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from llm_sandbox.backends.base import Machine, ProcessSpec
from llm_sandbox.exceptions import IsolationUnavailableError

__all__ = ["SelfTest", "find_cause"]

_PROBE = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
found = []
lines = open('/proc/self/status').read().splitlines()
status = dict(line.split(':\\t', 1) for line in lines if ':\\t' in line)
for name in {capabilities}:
    if int(status[name], 16): found.append(name)
if libc.prctl(39, 0, 0, 0, 0) != 1: found.append('new privileges')
if status['Seccomp'] != '2': found.append('no seccomp')
if os.getuid() == 0: found.append('user 0')
for flag in (0x10000000, 0x00020000, 0x40000000):
    if libc.unshare(flag) == 0: found.append('unshare')
for path in ({kernel_setting!r}, '/usr/x', '/x', '/etc/x', '/opt/x'):
    try:
        os.close(os.open(path, os.O_WRONLY | (0 if 'sys' in path else os.O_CREAT)))
        found.append('writable ' + path)
    except OSError: pass
for path in ('/root', '/boot', {kernel_folder!r}):
    if os.path.exists(path): found.append('visible ' + path)
if [n for _, n in socket.if_nameindex() if n != 'lo']: found.append('network interfaces')
if max(int(p) for p in os.listdir('/proc') if p.isdigit()) > 64: found.append('foreign processes')
{more}
print('leaks:', ', '.join(found))
"""
"""Program that prints ``leaks:`` and each promise that does not hold; 39 is PR_GET_NO_NEW_PRIVS."""


class SelfTest:
    """Probe that runs in a machine with a blocked network.

    Args:
        backend: Name of the backend.
        title: Program that isolates, with its path and version, for messages.
        program: Its file.
        capabilities: Capability sets in ``/proc/self/status`` that must be empty.
        kernel_setting: File below ``/proc/sys`` that must not be writable.
        kernel_folder: Folder below ``/sys`` that must not be visible.
        more: Further lines of the probe, which append to the list ``found``.
    """

    def __init__(
        self,
        backend: str,
        title: str,
        program: Path,
        *,
        capabilities: Sequence[str],
        kernel_setting: str,
        kernel_folder: str,
        more: str = "",
    ) -> None:
        self._backend = backend
        self._title = title
        self._program = program
        self._probe = _PROBE.format(
            capabilities=tuple(capabilities),
            kernel_setting=kernel_setting,
            kernel_folder=kernel_folder,
            more=more,
        )

    def run(self, machine: Machine) -> None:
        """Run the probe in a machine.

        Raises:
            IsolationUnavailableError: A promise does not hold here.
        """
        argv = (machine.python(), "-I", "-S", "-c", self._probe)
        raw = machine.start(ProcessSpec(argv, machine.base_env(), timeout_s=20))
        with open(raw.stdout, encoding="utf-8", errors="replace") as file:
            output = file.read().strip()
        with open(raw.stderr, encoding="utf-8", errors="replace") as file:
            errors = file.read().strip()
        ended = raw.ending.wait(30)
        if output == "leaks:":
            return
        reason = output or errors or f"the probe ended with {ended}"
        raise IsolationUnavailableError(
            f"{self._title} does not isolate on this machine: {reason}",
            backend=self._backend,
            hint="report this with the output of: llm-sandbox doctor",
        )

    def proof_file(self, cache: Path) -> Path:
        """Return the file that records that the probe passed, named by all its outcome depends on.

        Args:
            cache: The cache folder of this library.
        """
        status = self._program.stat()
        facts = (
            self._probe,
            str(self._program),
            status.st_mtime_ns,
            status.st_size,
            platform.release(),
            platform.machine(),
            os.geteuid(),
            _read("/proc/sys/kernel/random/boot_id"),
        )
        digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
        return cache / "proofs" / f"{self._backend}-{digest}"


def find_cause() -> tuple[str | None, str]:
    """Return why user namespaces cannot be made on this computer, None if not known, and a hint."""
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
