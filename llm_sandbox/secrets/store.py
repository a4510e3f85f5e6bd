"""Secret store of this user: one file that no other user can read."""

# ruff: noqa: PTH103, PTH117, PTH118, PTH120
# Because: works with descriptors, and with paths that must not be followed.

import contextlib
import fcntl
import json
import os
import pwd
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_sandbox.exceptions import SecurityError, ValidationError
from llm_sandbox.secrets.names import check_name, check_value

__all__ = ["SecretStore", "StoredSecret", "store_file"]

_FILE, _LOCK = "secrets.json", "secrets.lock"
_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600
_LARGEST = 16 << 20
_FORMAT = 1


def store_file() -> str:
    """Return the path of the file: ``llm-sandbox/secrets/secrets.json`` in ``$XDG_CONFIG_HOME``,
    else in ``~/.config``. The folder is separate, as others may read that of the settings.
    """
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            home = pwd.getpwuid(os.geteuid()).pw_dir
        base = os.path.join(home, ".config")
    return os.path.join(base, "llm-sandbox", "secrets", _FILE)


@dataclass(frozen=True)
class StoredSecret:
    """Metadata of a stored secret."""

    name: str
    """Name of the secret."""
    changed_at: float
    """Time of the last change, in seconds since 1970."""


class SecretStore:
    """Secret store of this user. Safe for concurrent processes; each change is atomic.

    Args:
        file: Path of the file; None for `store_file`.
    """

    def __init__(self, file: str | None = None) -> None:
        self.file = file or store_file()
        self._folder = os.path.dirname(self.file)

    def read(self, name: str) -> str:
        """Return the value of a secret.

        Raises:
            ValidationError: The secret does not exist.
            SecurityError: Other users can read or own the store.
        """
        found = self._load().get(check_name(name))
        if found is None:
            raise self._missing(name)
        return str(found["value"])

    def list(self) -> tuple[StoredSecret, ...]:
        """Return the metadata of all secrets, sorted by name.

        Raises:
            SecurityError: Other users can read or own the store.
        """
        entries = sorted(self._load().items())
        return tuple(StoredSecret(name, float(entry["changed_at"])) for name, entry in entries)

    def set(self, name: str, value: str) -> None:
        """Store a secret, replacing one of the same name.

        Raises:
            ValidationError: The name or the value is invalid.
            SecurityError: Other users can read or own the store.
        """
        checked = check_name(name)
        entry = {"value": check_value(value, checked), "changed_at": time.time()}
        with self._changing() as entries:
            entries[checked] = entry

    def delete(self, name: str) -> None:
        """Delete a secret.

        Raises:
            ValidationError: The secret does not exist.
            SecurityError: Other users can read or own the store.
        """
        check_name(name)
        with self._changing() as entries:
            if entries.pop(name, None) is None:
                raise self._missing(name)

    def _missing(self, name: str) -> ValidationError:
        return ValidationError(
            f"there is no secret {name} in {self.file}",
            parameter="name",
            hint=f"llm-sandbox secret set {name}",
        )

    # --- the file

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[str, dict[str, Any]]]:
        """Yield all entries for a block, and write them after it."""
        with self._opened(make=True) as folder:
            assert folder is not None  # noqa: S101 - it was made
            lock = os.open(
                _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=folder
            )
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                entries = self._read(folder)
                yield entries
                self._write(folder, entries)
            finally:
                os.close(lock)

    def _load(self) -> dict[str, dict[str, Any]]:
        with self._opened(make=False) as folder:
            return {} if folder is None else self._read(folder)

    @contextlib.contextmanager
    def _opened(self, *, make: bool) -> Iterator[int | None]:
        """Open the folder for a block, independent of later changes of its path."""
        try:
            if make:
                os.makedirs(os.path.dirname(self._folder), mode=_PRIVATE_FOLDER, exist_ok=True)
                with contextlib.suppress(FileExistsError):
                    os.mkdir(self._folder, _PRIVATE_FOLDER)  # noqa: PTH102
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            folder = os.open(self._folder, flags)
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            raise ValidationError(
                f"secrets are kept in {self._folder}, which cannot be used: {error.strerror}",
                hint="name another place: XDG_CONFIG_HOME",
            ) from None
        try:
            self._check(os.fstat(folder), self._folder, _PRIVATE_FOLDER)
            yield folder
        finally:
            os.close(folder)

    def _check(self, found: os.stat_result, path: str, mode: int) -> None:
        if found.st_uid != os.geteuid():
            raise SecurityError(
                f"secrets are kept in {path}, which belongs to user {found.st_uid}",
                hint=f"look at it, and move it away: mv {path} {path}.other",
            )
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise SecurityError(
                f"secrets are kept in {path}, which others may use "
                f"(mode {stat.S_IMODE(found.st_mode):04o}): what is in there may be known",
                hint=f"chmod {mode:04o} {path}",
            )

    def _read(self, folder: int) -> dict[str, dict[str, Any]]:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            fd = os.open(_FILE, flags, dir_fd=folder)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise SecurityError(
                f"{self.file} cannot be read as a secret store: {error.strerror}",
                hint=f"look at it, and move it away: mv {self.file} {self.file}.other",
            ) from None
        with os.fdopen(fd, "rb") as file:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise SecurityError(f"{self.file} is not a regular file", hint=f"rm {self.file}")
            self._check(found, self.file, _PRIVATE_FILE)
            data = file.read(_LARGEST + 1)
        entries = _entries(data)
        if entries is None:
            # Not chained: the reader's own error holds what is in there.
            raise ValidationError(
                f"{self.file} does not hold secrets in a format that this version reads",
                hint=f"move it away, and set them anew: mv {self.file} {self.file}.other",
            )
        return entries

    def _write(self, folder: int, entries: Mapping[str, Mapping[str, Any]]) -> None:
        data = json.dumps({"format": _FORMAT, "secrets": entries}, indent=1).encode()
        draft = f".{_FILE}.{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(draft, flags, _PRIVATE_FILE, dir_fd=folder)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(fd)
            os.rename(draft, _FILE, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            raise
        os.fsync(folder)


def _entries(data: bytes) -> dict[str, dict[str, Any]] | None:
    """Return the entries in a file; None if the file is invalid."""
    if len(data) > _LARGEST:
        return None
    try:
        content = json.loads(data)
        entries: dict[str, dict[str, Any]] = content["secrets"]
        whole = content["format"] == _FORMAT and all(
            isinstance(entry["value"], str) and float(entry["changed_at"]) >= 0
            for entry in entries.values()
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return entries if whole else None
