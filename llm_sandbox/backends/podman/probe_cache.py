"""What was found out about Podman on this machine, kept in the cache while nothing changes."""

import contextlib
import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any

from llm_sandbox.settings import get_settings

__all__ = ["file_identity", "load_result", "store_result"]

_VARIABLES = ("CONTAINERS_CONF", "CONTAINERS_CONF_OVERRIDE", "CONTAINERS_STORAGE_CONF")
"""Variables that change what Podman does."""


def load_result(subject: object) -> Any:
    """What was stored of a subject on this machine, since it was started; None if nothing.

    Args:
        subject: What the record is about: equal as text means the same.
    """
    with contextlib.suppress(OSError, ValueError):
        return json.loads(_record(subject).read_bytes())
    return None


def store_result(subject: object, value: object) -> None:
    """Remember a value, JSON-like, of a subject; a cache that cannot be written to is no error."""
    record = _record(subject)
    with contextlib.suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        draft = record.with_name(f"{record.name}.{os.getpid()}")
        draft.write_text(json.dumps(value), encoding="utf-8")
        draft.replace(record)


def file_identity(path: str) -> list[object]:
    """What changes when a file does, or another takes its place."""
    try:
        about = os.stat(path)
    except OSError:
        return [path]
    return [path, about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns]


def _record(subject: object) -> Path:
    boot = None
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    facts = (subject, platform.release(), os.geteuid(), boot, *map(os.environ.get, _VARIABLES))
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
    return get_settings().cache_dir / "proofs" / f"podman-{digest}.json"
