"""The host's pip configuration: package indexes, proxies and certificates."""

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from llm_sandbox.exceptions import LibraryInstallationError, SandboxTimeoutError
from llm_sandbox.host.terminal import strip_controls

__all__ = ["CarriedSettings", "PipSettings"]

_INDEXES = ("index-url", "extra-index-url")
_FOLDERS = (*_INDEXES, "find-links")
_FILES = ("cert", "client-cert", "constraint")
_WORDS = (
    "default-timeout",
    "no-index",
    "pre",
    "prefer-binary",
    "proxy",
    "retries",
    "timeout",
    "trusted-host",
    "uploaded-prior-to",
    "use-deprecated",
    "use-feature",
)
_SECTIONS = ("global", "install", ":env:")
"""Sections in pip's order: later ones win."""

_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_FILE_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True)
class CarriedSettings:
    """Settings for a pip that sees the host's files below another root.

    Attributes:
        variables: Environment variables.
        binds: Path as that pip sees it to the host's path.
    """

    variables: dict[str, str]
    binds: dict[str, str]


@dataclass(frozen=True)
class PipSettings:
    """Configuration of pip on the host, from its files and the environment.

    Only settings of sources and connections are included, none of the destination. Values may
    contain passwords: they are passed in memory, and never written.

    Attributes:
        options: Value of each pip option.
        environment: The host's environment.
    """

    options: Mapping[str, str]
    environment: Mapping[str, str]

    @classmethod
    def read(cls, timeout_s: float | None) -> "PipSettings":
        """Read the configuration of the host's pip.

        Raises:
            LibraryInstallationError: pip is missing, or its configuration is broken.
            SandboxTimeoutError: pip did not answer in time.
        """
        # -P: a folder named pip in the working directory is not pip.
        command = [sys.executable, "-P", "-m", "pip", "config", "list"]
        environment = {**os.environ, "PIP_QUIET": "0", "PIP_NO_COLOR": "1"}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, timeout=timeout_s, check=False
            )
        except subprocess.TimeoutExpired:
            raise SandboxTimeoutError("pip did not answer in time", timeout_s) from None
        if done.returncode:
            output = strip_controls(done.stderr.decode("utf-8", "replace")).strip()
            raise LibraryInstallationError(
                f"pip does not work: {output.rpartition(chr(10))[2] or 'no reason given'}",
                output=output,
                hint=f"{sys.executable} -m ensurepip, or pip install pip",
            )
        return cls(_read_options(done.stdout.decode("utf-8", "replace")), dict(os.environ))

    def carried(self, root: str) -> CarriedSettings:
        """Return the settings for a pip that sees the host's files below `root`.

        Only files and folders that the settings name are bound. One root for all keeps relative
        links between them, and no folder of the host, such as /tmp, can be covered by one of the
        sandbox.

        Args:
            root: The folder, without a slash at its end; empty for the host itself.
        """
        carrier = _Carrier(root)
        variables = {}
        for name, value in self.options.items():
            words = [value]
            if name in _FOLDERS:
                words = [carrier.carry(word, index=name in _INDEXES) for word in value.split()]
            elif name in _FILES:
                words = [carrier.carry(value)]
            variables[f"PIP_{name.upper().replace('-', '_')}"] = " ".join(words)
        for name in (*_VARIABLES, *map(str.lower, _VARIABLES)):
            if name in self.environment:
                variables[name] = self.environment[name]
        for name in _FILE_VARIABLES:
            if self.environment.get(name):
                variables[name] = carrier.carry(self.environment[name])
        return CarriedSettings(variables, carrier.binds)


def _read_options(listing: str) -> dict[str, str]:
    found: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    for line in listing.splitlines():
        key, _, literal = line.partition("=")
        section, _, name = key.partition(".")
        if section not in found or name not in (*_FOLDERS, *_FILES, *_WORDS):
            continue
        try:
            value = ast.literal_eval(literal)
        except (SyntaxError, ValueError):
            continue
        if isinstance(value, str) and value:
            found[section][name] = value
    return {name: value for section in _SECTIONS for name, value in found[section].items()}


class _Carrier:
    """Rewriter of local paths, which collects the files to bind."""

    def __init__(self, root: str) -> None:
        self.binds: dict[str, str] = {}
        self._root = root

    def carry(self, word: str, *, index: bool = False) -> str:
        """Return `word`, a path or URL, as seen below the root.

        Args:
            word: A path or URL of the host.
            index: Whether it is a package index.
        """
        if word.startswith("file:"):
            parts = urlsplit(word)
            self._bind(unquote(parts.path), index=index)
            return f"file://{self._root}{parts.path}"
        if "://" in word:
            return word
        path = os.path.abspath(os.path.expanduser(word))  # noqa: PTH100, PTH111 - links stay
        self._bind(path, index=index)
        return self._root + path

    def _bind(self, text: str, *, index: bool) -> None:
        path = Path(os.path.normpath(text))
        if index and path.name == "simple" and path.parent not in (Path("/"), Path.home()):
            # The pages of an index link to files that lie beside its folder.
            path = path.parent
        if path.exists() and path != Path("/"):
            self.binds[f"{self._root}{path}"] = str(path)
