"""Usage of a sandbox in the words of E2B's API."""

from datetime import UTC, datetime

from llm_sandbox.server.live_sandbox import LiveSandbox
from llm_sandbox.server.usage import measure

__all__ = ["describe_usage"]


def describe_usage(live: LiveSandbox) -> dict[str, object]:
    """Return what a sandbox uses now; the share of processors is that since its creation."""
    found = measure(live)
    age = max(found.time - live.started_at, 0.01)
    moment = datetime.fromtimestamp(found.time, UTC).isoformat().replace("+00:00", "Z")
    return {
        "timestamp": moment,
        "timestampUnix": int(found.time),
        "cpuCount": found.cpus,
        "cpuUsedPct": round(min(100.0 * found.cpu_s / age, 100.0 * found.cpus), 2),
        "memUsed": found.memory_bytes,
        "memTotal": found.memory_limit_bytes,
        "memCache": 0,
        "diskUsed": found.disk_bytes,
        "diskTotal": found.disk_limit_bytes,
    }
