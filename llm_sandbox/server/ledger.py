"""Ledger: sandboxes that outlive the server, for the next server with the same folder."""

import contextlib
import hashlib
import json
import os
import secrets
from dataclasses import dataclass

from llm_sandbox.exceptions import ContainerError, SandboxError, ValidationError
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.sandbox.detached.codec import decode, encode
from llm_sandbox.sandbox.detached.record import Record
from llm_sandbox.sandbox.detached.registry import live_records
from llm_sandbox.sandbox.detached.state_dir import StateDir
from llm_sandbox.server.live_sandbox import NewSandbox

__all__ = ["Entry", "Ledger"]

_SECRET = "secret"  # noqa: S105 - the name of a file
_LOCK = "lock"
_ENDING = ".json"
_MOST_BYTES = 4 << 20


@dataclass(frozen=True)
class Entry:
    """Sandbox in a ledger."""

    id: str
    """Id that clients know it by."""
    tenant: str
    """Its tenant."""
    request: NewSandbox
    """Request of the client, without the options of its session."""
    started_at: float
    """Time of its creation, in seconds since 1970."""
    timeout_s: float
    """Seconds until its end, as they were asked for."""
    idempotency_key: str | None = None
    """Key of the request that it was created for; None without one."""
    digest: str = ""
    """Digest of the whole request."""


class Ledger:
    """Private folder with an entry for each kept sandbox, and the secret of their tokens.

    An entry is written before its sandbox is created and removed after that has ended: whenever a
    server is killed, no entry is missing for a sandbox that a client knows.

    Args:
        path: The folder, which one server uses at a time.

    Raises:
        ContainerError: Another server uses it.
        SecurityError: Other users may write to it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._folder = StateDir(os.fspath(path))
        lock = self._folder.take_lock(_LOCK)
        if lock is None:
            self._folder.close()
            raise ContainerError(f"another server keeps its sandboxes in {path}")
        self._lock = lock
        found = self._folder.read(_SECRET, 64)
        if found is None:
            found = secrets.token_bytes(32)
            self._folder.write(_SECRET, found)
        self.secret = found
        self._prefix = f"serve-{hashlib.sha256(found).hexdigest()[:12]}-"

    def name(self, sandbox_id: str) -> str:
        """Return the name of a kept sandbox's session."""
        return self._prefix + sandbox_id

    def write(self, entry: Entry) -> None:
        """Add an entry, or replace that of the same id."""
        self._folder.write(entry.id + _ENDING, json.dumps(encode(entry)).encode())

    def remove(self, sandbox_id: str) -> None:
        """Remove the entry of a sandbox that has ended."""
        self._folder.remove(sandbox_id + _ENDING)

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first.

        Raises:
            ValidationError: A file of the folder is none.
        """
        found = []
        for name in self._folder.names():
            if not name.endswith(_ENDING):
                continue
            data = self._folder.read(name, _MOST_BYTES) or b""
            try:
                entry = decode(json.loads(data))
            except (ValueError, KeyError, TypeError) as error:
                raise ValidationError(f"{name} is no entry of a kept sandbox") from error
            if not isinstance(entry, Entry) or entry.id + _ENDING != name:
                raise ValidationError(f"{name} is no entry of a kept sandbox")
            found.append(entry)
        return sorted(found, key=lambda entry: entry.started_at)

    def living(self) -> dict[str, Record]:
        """Return what is known of the living sandboxes of this ledger, by their ids."""
        with StateDir() as registry:
            records = live_records(registry)
        return {
            record.name.removeprefix(self._prefix): record
            for record in records
            if record.name is not None and record.name.startswith(self._prefix)
        }

    def end(self, sandbox_id: str) -> None:
        """End a sandbox that no client knows, as one of a server that was killed making it."""
        self.remove(sandbox_id)
        with contextlib.suppress(SandboxError):  # it has ended, or the next sweep ends it
            Sandbox.from_name(self.name(sandbox_id)).destroy()

    def close(self) -> None:
        """Let another server use the folder."""
        os.close(self._lock)
        self._folder.close()
