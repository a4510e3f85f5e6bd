"""Measurement of a sandbox: processors, memory and disk in use."""

import math
import os
import time
from dataclasses import dataclass

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.sandbox.file_service import disk_usage
from llm_sandbox.server.live_sandbox import LiveSandbox

__all__ = ["Usage", "measure"]

_LOOK = """
set -- /proc/[0-9]*
for p; do
  read -r line 2>/dev/null < "$p/stat" && echo "s ${line##*) }"
  while read -r name size _; do [ "$name" = VmRSS: ] && echo "m $size"; done \\
    2>/dev/null < "$p/status"
done
true
"""
_LOOK_S = 5.0
_MOST_OUTPUT = 1 << 18


@dataclass(frozen=True)
class Usage:
    """What a sandbox uses, as its own processes are seen inside."""

    time: float
    """When it was measured, in seconds since 1970."""
    cpu_s: float
    """Seconds of processors that its living processes have used."""
    cpus: int
    """Processors that it may use at once."""
    memory_bytes: int
    """Memory of its processes; what they share is counted for each."""
    memory_limit_bytes: int
    """The most that it may have."""
    disk_bytes: int
    """Size of its files; 0 if the disk could not be asked."""
    disk_limit_bytes: int
    """The most that they may have."""


def measure(live: LiveSandbox) -> Usage:
    """Return what a sandbox uses now."""
    limits = live.sandbox.limits
    ticks = memory = 0
    # trust: a sandbox can forge what is read inside it; the numbers are its own claims.
    looked = live.sandbox.exec("sh", "-c", _LOOK, timeout=_LOOK_S).collect(_MOST_OUTPUT)
    for line in looked.stdout.splitlines():
        kind, *fields = line.split()
        numbers = [int(field) for field in fields if field.isdigit() and len(field) < 18]
        if kind == "m" and numbers:
            memory += numbers[0] * 1024
        elif kind == "s" and len(fields) > 12 and fields[11].isdigit() and fields[12].isdigit():
            ticks += int(fields[11][:18]) + int(fields[12][:18])
    try:
        disk = disk_usage(live.sandbox, live.sandbox.workdir)
        used, whole = disk.size_bytes - disk.free_bytes, disk.size_bytes
    except SandboxError:
        used, whole = 0, limits.workdir_bytes
    return Usage(
        time=time.time(),
        cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
        cpus=math.ceil(limits.cpus or os.cpu_count() or 1),
        memory_bytes=min(memory, limits.memory_bytes),
        memory_limit_bytes=limits.memory_bytes,
        disk_bytes=used,
        disk_limit_bytes=whole,
    )
