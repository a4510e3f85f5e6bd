"""Measurement of a sandbox: processors, memory and disk in use."""

import math
import os
import time
from datetime import UTC, datetime

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.sandbox.file_service import disk_usage
from llm_sandbox.server.live_sandbox import LiveSandbox

__all__ = ["measure"]

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


def measure(live: LiveSandbox) -> dict[str, object]:
    """Return what a sandbox uses now, as its own processes are seen inside.

    The share of processors is that since the sandbox was created.
    """
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
    now = time.time()
    cpus = math.ceil(limits.cpus or os.cpu_count() or 1)
    seconds = ticks / os.sysconf("SC_CLK_TCK")
    age = max(now - live.started_at, 0.01)
    return {
        "timestamp": datetime.fromtimestamp(now, UTC).isoformat().replace("+00:00", "Z"),
        "timestampUnix": int(now),
        "cpuCount": cpus,
        "cpuUsedPct": round(min(100.0 * seconds / age, 100.0 * cpus), 2),
        "memUsed": min(memory, limits.memory_bytes),
        "memTotal": limits.memory_bytes,
        "memCache": 0,
        "diskUsed": used,
        "diskTotal": whole,
    }
