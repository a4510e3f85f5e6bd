"""Telling whether secrets are those of before, by what says nothing of them."""

import contextlib
import hashlib
import hmac
import os
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from llm_sandbox.host.paths import user_folder

__all__ = ["fingerprint"]

_LENGTH = 32


def fingerprint(values: Sequence[str]) -> str:
    """Return what differs when one of the values does; empty for none.

    It is keyed by a random number that this user alone can read, so that whoever sees it cannot
    try values until one fits.

    Args:
        values: In an order that counts.
    """
    if not values:
        return ""
    digest = hmac.new(_key(), digestmod=hashlib.sha256)
    for value in values:
        data = value.encode("utf-8", "surrogateescape")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


def _key() -> bytes:
    path = user_folder("XDG_STATE_HOME", ".local/state") / "sbx-agents" / "key"
    if not path.exists():
        _make(path)
    return path.read_bytes()


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".key-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_LENGTH))
        # It appears whole, and the first one stays: others may be at it.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        Path(draft).unlink()
