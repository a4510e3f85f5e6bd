"""Package manager settings of the host, carried to the environment where a package manager runs."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["Carrier"]

_LARGEST = 8 << 20
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_CERTIFICATES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


class Carrier:
    """Collector of the variables and files that a package manager needs.

    The settings may include passwords: files are copied for one installation, into a folder that
    only its machine reads, and are removed with it.

    Args:
        environment: Environment variables of the host.
        home: Home directory of the host.
        folder: Path of private files inside.
        root: Prefix of shared folders inside; empty for their paths on the host.
        for_image: Whether the target is an image, whose own settings apply.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        home: Path,
        *,
        folder: str,
        root: str,
        for_image: bool = False,
    ) -> None:
        self.for_image = for_image
        self.environment = environment
        self.home = home
        self.variables: dict[str, str] = {}
        """Environment variables."""
        self.files: dict[str, bytes] = {}
        """Content of private files by name."""
        self.folders: dict[str, str] = {}
        """Folders of the host to mount for reading, by their path inside."""
        self._folder = folder
        self._root = root

    def carry_proxies(self) -> None:
        """Carry the proxy settings."""
        for name in (*_PROXIES, *map(str.lower, _PROXIES)):
            if self.environment.get(name):
                self.variables[name] = self.environment[name]
        for name in _CERTIFICATES:
            if self.environment.get(name):
                self.variables[name] = self.share(self.environment[name])

    def carry(self, *names: str) -> None:
        """Carry environment variables unchanged, if they are set."""
        for name in names:
            if self.environment.get(name):
                self.variables[name] = self.environment[name]

    def read(self, path: str | Path) -> str | None:
        """Return the text of a file of the host; None if it cannot be read."""
        try:
            with Path(path).expanduser().open("rb") as file:
                return file.read(_LARGEST).decode("utf-8", "replace")
        except (OSError, ValueError, RuntimeError):
            return None

    def keep(self, name: str, text: str | bytes) -> str:
        """Add a private file, and return its path inside."""
        self.files[name] = text.encode() if isinstance(text, str) else text
        return f"{self._folder}/{name}"

    def share(self, word: str) -> str:
        """Return the path or URL as it is valid inside; a file is copied, and a folder is mounted
        for reading.
        """
        prefix, path = "", word
        if word.startswith("file:"):
            prefix, path = "file://", unquote(urlsplit(word).path)
        elif "://" in word:
            return word
        place = os.path.normpath(os.path.join(self.home, os.path.expanduser(path)))  # noqa: PTH111, PTH118 - links stay
        if Path(place).is_dir() and place != "/":
            self.folders[f"{self._root}{place}"] = place
            return f"{prefix}{self._root}{place}"
        try:
            data = Path(place).read_bytes()[:_LARGEST]
        except OSError:
            return word
        return prefix + self.keep(f"{len(self.files)}-{Path(place).name}", data)
