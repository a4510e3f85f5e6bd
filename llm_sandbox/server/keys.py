"""API keys: who may call the server, and as which tenant."""

import hashlib
import hmac
import json
import os
import secrets
import stat
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from llm_sandbox.exceptions import SecurityError, ValidationError

__all__ = ["DEFAULT_SCOPES", "LOCAL_TENANT", "SCOPES", "Key", "KeyFile"]

SCOPES = ("view", "run", "metrics", "admin")
"""What a key may do: reading what `/v1` tells of its tenant's sandboxes; everything with them;
reading the server's metrics; making and revoking keys of all tenants."""

DEFAULT_SCOPES = ("run", "metrics")
"""What a key may do that was made without scopes."""

LOCAL_TENANT = "local"
"""Tenant of all clients of a server without keys."""

_PREFIX = "e2b_"  # older clients of E2B refuse any other form
_LONGEST_NAME = 64


@dataclass(frozen=True)
class Key:
    """API key as it is stored: its digest, and what it is good for."""

    name: str
    """Name for people, unique in the file."""
    tenant: str
    """Tenant whose sandboxes it opens."""
    scopes: tuple[str, ...]
    """What it may do; see `SCOPES`."""
    digest: str
    """SHA-256 of the key, as hexadecimal digits."""
    created_at: float
    """Time of creation, in seconds since 1970."""
    expires_at: float | None = None
    """When it expires, in seconds since 1970; None for never."""

    @property
    def has_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and time.time() >= self.expires_at


class KeyFile:
    """File of API keys, readable by its owner only. Safe to use from several threads.

    A change of the file, such as a revocation, counts from the next request on.

    Args:
        path: The file; one that does not exist is an empty one.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._keys: tuple[Key, ...] = ()
        self._seen: tuple[int, int] | None = None

    @property
    def keys(self) -> tuple[Key, ...]:
        """All keys, those that have expired included.

        Raises:
            SecurityError: The file belongs to another user, or others may read it.
            ValidationError: It holds something else than keys.
        """
        with self._lock:
            try:
                found = self.path.stat()
            except FileNotFoundError:
                self._keys, self._seen = (), None
                return ()
            if (found.st_mtime_ns, found.st_ino) != self._seen:
                self._check(found)
                self._keys = self._read()
                self._seen = (found.st_mtime_ns, found.st_ino)
            return self._keys

    def find(self, token: str) -> Key | None:
        """Return the key of a token; None if there is none, or it has expired."""
        digest = _digest(token)
        chosen = None
        # Every key is compared, so that the time says nothing about which of them matched.
        for key in self.keys:
            if hmac.compare_digest(key.digest, digest):
                chosen = key
        return None if chosen is None or chosen.has_expired else chosen

    def create(
        self,
        name: str,
        tenant: str | None = None,
        scopes: Iterable[str] = DEFAULT_SCOPES,
        ttl_s: float | None = None,
    ) -> str:
        """Add a key and return its token, which is shown this once.

        Args:
            name: Name for people.
            tenant: Tenant; None for one of the key's name.
            scopes: What it may do.
            ttl_s: Seconds until it expires; None for never.

        Raises:
            ValidationError: The name is taken, or a value is invalid.
        """
        given = tuple(dict.fromkeys(scopes))
        for parameter, value in (("name", name), ("tenant", tenant or name)):
            if not 0 < len(value) <= _LONGEST_NAME or not value.isprintable():
                raise ValidationError(
                    f"invalid {parameter}: expected 1 to {_LONGEST_NAME} printable characters",
                    parameter=parameter,
                )
        unknown = [scope for scope in given if scope not in SCOPES]
        if unknown or not given:
            raise ValidationError(
                f"invalid scopes: expected some of {', '.join(SCOPES)}, got "
                f"{', '.join(unknown) or 'none'}",
                parameter="scopes",
            )
        if any(key.name == name for key in self.keys):
            raise ValidationError(f"there is a key named {name!r} already", parameter="name")
        token = _PREFIX + secrets.token_hex(20)
        now = time.time()
        expires = None if ttl_s is None else now + ttl_s
        key = Key(name, tenant or name, given, _digest(token), now, expires)
        self._write((*self.keys, key))
        return token

    def revoke(self, name: str) -> bool:
        """Remove a key; return False if there is none of that name."""
        kept = tuple(key for key in self.keys if key.name != name)
        if len(kept) == len(self.keys):
            return False
        self._write(kept)
        return True

    def _check(self, found: os.stat_result) -> None:
        if found.st_uid not in (os.geteuid(), 0):
            raise SecurityError(f"the keys in {self.path} belong to another user")
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise SecurityError(
                f"the keys in {self.path} can be read by other users",
                hint=f"chmod 600 {self.path}",
            )

    def _read(self) -> tuple[Key, ...]:
        try:
            items: list[Mapping[str, Any]] = json.loads(self.path.read_text("utf-8"))["keys"]
            return tuple(Key(**{**item, "scopes": tuple(item["scopes"])}) for item in items)
        except (ValueError, TypeError, KeyError) as error:
            raise ValidationError(f"{self.path} is not a file of keys") from error

    def _write(self, keys: Iterable[Key]) -> None:
        text = json.dumps({"keys": [asdict(key) for key in keys]}, indent=1)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
            file.write(text + "\n")
        draft.replace(self.path)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
