"""Quick probe of a container engine, with the standard library alone.

The choice of a default backend must not wait for an engine, nor import its client.
"""

import contextlib
import errno
import hashlib
import http.client
import json
import os
import socket
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from llm_sandbox.backends.recipes import candidate_references

__all__ = ["EngineStatus", "engine_addresses", "permission_hint", "probe_engine"]

_PATIENCE_S = 0.5
_LARGEST = 4 << 20
_PODMAN = "Podman Engine"
_OWN_PODMAN = "use the service of your own: systemctl --user start podman.socket"
_PORTS = {"http": 2375, "https": 2376}


@dataclass(frozen=True)
class EngineStatus:
    """Result of a probe of one engine."""

    engine: str
    """``docker`` or ``podman``."""
    address: str | None = None
    """Address at which it answers, or that was tried last."""
    version: str | None = None
    """Its version; None when it does not answer."""
    has_image: bool = False
    """Whether it has the requested image."""
    problem: str | None = None
    """Why it does not answer; None when it does."""

    @property
    def answers(self) -> bool:
        """Whether it answers."""
        return self.version is not None


def probe_engine(engine: str, image: str, timeout_s: float = _PATIENCE_S) -> EngineStatus:
    """Request the version of an engine, and whether it has an image.

    Args:
        engine: ``docker`` or ``podman``.
        image: Name of the image.
        timeout_s: Seconds in all for each address that is tried; 0.5.
    """
    finding = EngineStatus(engine, problem="it is nowhere to be found")
    for address in engine_addresses(engine):
        finding = _probe(engine, address, image, time.monotonic() + timeout_s)
        if finding.answers:
            break
    return finding


def engine_addresses(engine: str) -> list[str]:
    """Return the addresses at which an engine may answer, in the order of its own tools."""
    if engine == "podman":
        named = os.environ.get("CONTAINER_HOST")
        if named:
            return [named.removeprefix("http+")]
        user = os.geteuid()
        own = [os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}"] if user else []
        folders = [folder for folder in dict.fromkeys((*own, "/run")) if folder.startswith("/")]
        return [f"unix://{folder}/podman/podman.sock" for folder in folders]
    return [os.environ.get("DOCKER_HOST") or _context_host() or "unix:///var/run/docker.sock"]


def _context_host() -> str | None:
    """Return the address that ``docker context use`` chose; None for the default."""
    home = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        name = json.loads((home / "config.json").read_bytes())["currentContext"]
        if name != "default":
            folder = hashlib.sha256(name.encode()).hexdigest()
            about = json.loads((home / "contexts" / "meta" / folder / "meta.json").read_bytes())
            return str(about["Endpoints"]["docker"]["Host"])
    return None


def permission_hint(engine: str, problem: object, otherwise: str) -> str:
    """Return the hint for an engine that did not answer.

    Args:
        engine: ``docker`` or ``podman``.
        problem: Message of the operating system.
        otherwise: Hint for any problem but denied access.
    """
    if os.strerror(errno.EACCES) not in str(problem):
        return otherwise
    if engine == "podman":
        return _OWN_PODMAN
    return (
        "sudo usermod -aG docker $USER, and log in again, makes you one of its group (which can "
        "become root here; rootless Docker asks for none)"
    )


def _probe(engine: str, address: str, image: str, deadline: float) -> EngineStatus:
    try:
        with contextlib.closing(_connect(address, _left(deadline))) as connection:
            status, about = _get(connection, "/version", deadline)
            if status != http.client.OK or "Version" not in about:
                raise ValueError(f"its answer has status {status}, and no Version")
            names = [str(part.get("Name")) for part in about.get("Components") or ()]
            if (_PODMAN in names) != (engine == "podman"):
                raise ValueError(f"another engine answers there: {', '.join(names) or 'unknown'}")
            has_image = any(
                _get(connection, f"/images/{quote(name, safe='/:@')}/json", deadline)[0]
                == http.client.OK
                for name in candidate_references(engine, image)
            )
            return EngineStatus(engine, address, str(about["Version"]), has_image)
    except TimeoutError:
        problem = "it does not answer in time"
    except FileNotFoundError:
        problem = "there is no such socket"
    except (OSError, ValueError, AttributeError, http.client.HTTPException) as error:
        problem = str(error) or type(error).__name__
    return EngineStatus(engine, address, problem=problem)


def _connect(address: str, timeout: float) -> http.client.HTTPConnection:
    parts = urlsplit(address)
    if parts.scheme == "unix":
        connection = http.client.HTTPConnection("localhost", timeout=timeout)
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.settimeout(timeout)
            connection.sock.connect(unquote(parts.netloc + parts.path))
        except OSError:
            connection.close()
            raise
        return connection
    host = parts.hostname or "localhost"
    if parts.scheme == "https" or (parts.scheme == "tcp" and os.environ.get("DOCKER_TLS_VERIFY")):
        port = parts.port or _PORTS["https"]
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=_certificates())
    if parts.scheme in ("tcp", "http"):
        return http.client.HTTPConnection(host, parts.port or _PORTS["http"], timeout=timeout)
    raise ValueError(f"{parts.scheme}:// takes too long to try; name the backend to use it")


def _certificates() -> ssl.SSLContext:
    folder = Path(os.environ.get("DOCKER_CERT_PATH") or Path.home() / ".docker")
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    context.load_cert_chain(str(folder / "cert.pem"), str(folder / "key.pem"))
    return context


def _get(
    connection: http.client.HTTPConnection, path: str, deadline: float
) -> tuple[int, dict[str, Any]]:
    if connection.sock is not None:
        connection.sock.settimeout(_left(deadline))
    connection.request("GET", path)
    answer = connection.getresponse()
    found = json.loads(answer.read(_LARGEST))
    return answer.status, found if isinstance(found, dict) else {}


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
