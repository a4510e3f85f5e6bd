"""Cache of probe results about Podman on this machine, on disk while nothing changes."""

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
"""Variables that change the behaviour of Podman."""


def load_result(subject: object) -> Any:
    """Return the result stored for a subject since this machine booted; None if there is none.

    Args:
        subject: Key of the result, compared by its text.
    """
    with contextlib.suppress(OSError, ValueError):
        return json.loads(_record(subject).read_bytes())
    return None


def store_result(subject: object, value: object) -> None:
    """Store a JSON-able result for a subject; errors of writing are ignored."""
    record = _record(subject)
    with contextlib.suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        draft = record.with_name(f"{record.name}.{os.getpid()}")
        draft.write_text(json.dumps(value), encoding="utf-8")
        draft.replace(record)


def file_identity(path: str) -> list[object]:
    """Return a value that changes when a file changes or is replaced."""
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
