"""Admission of requests: host names, origins, keys."""

import base64
import functools
import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import Scope

from llm_sandbox.exceptions import SandboxError, ValidationError
from llm_sandbox.server.keys import LOCAL_TENANT, SCOPES, KeyFile

__all__ = ["Guard", "Principal", "RefusedError", "header", "host_of", "is_loopback"]


@dataclass(frozen=True)
class Principal:
    """Caller of a request."""

    tenant: str
    scopes: tuple[str, ...] = SCOPES


class RefusedError(SandboxError):
    """Request that is not admitted.

    Args:
        status: HTTP status.
        message: Reason in words, without the token.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Guard:
    """Admission of requests to a server on one address.

    Args:
        host: Address that the server listens on.
        keys: Keys of clients; None admits everybody on this computer.
        domain: Further host name, with all names below it.

    Raises:
        ValidationError: Other computers reach the address, and there are no keys.
    """

    def __init__(self, host: str, keys: KeyFile | None, domain: str | None = None) -> None:
        self._is_loopback = is_loopback(host)
        if not self._is_loopback and (keys is None or not keys.keys):
            raise ValidationError(
                f"whoever reaches {host} could run code here",
                parameter="host",
                hint="make a key with `llm-sandbox key create NAME --keys FILE`, and serve with "
                "--keys FILE; or leave --host out, and listen to this computer only",
            )
        self._keys = keys
        self._domain = domain

    @property
    def keys(self) -> KeyFile | None:
        """Keys of clients; None where everybody on this computer is admitted."""
        return self._keys

    def check(self, scope: Scope) -> None:
        """Check the host name and the origin of a request, as those of a page in a browser.

        Raises:
            RefusedError: The host name is not one of this server, as with a name that was rebound
                to this address; or a page of another origin has sent it.
        """
        hosts = _all(scope, "host")
        if len(hosts) != 1:
            raise RefusedError(400, "a request has one Host header")
        if _all(scope, "transfer-encoding") and _all(scope, "content-length"):
            raise RefusedError(400, "a body has one length")
        host = host_of(hosts[0])
        if self._is_loopback and not is_loopback(host) and not self._is_ours(host):
            raise RefusedError(421, "this server has another name")
        origins = _all(scope, "origin")
        if origins and any(
            urlsplit(origin).netloc.lower() != hosts[0].lower() for origin in origins
        ):
            raise RefusedError(403, "pages of other origins may not call this server")

    def _is_ours(self, host: str) -> bool:
        domain = self._domain
        return domain is not None and (host == domain or host.endswith(f".{domain}"))

    def principal(self, scope: Scope, needed: str = "run") -> Principal:
        """Return the caller by the key in ``X-API-Key`` or ``Authorization``, where it is a bearer
        token or the password of a URL, for clients that can be given nothing else.

        Args:
            scope: The request.
            needed: Scope that the key must have; ``run`` includes ``view``.

        Raises:
            RefusedError: There is no such key, or it may not do that.
        """
        if self._keys is None:
            return Principal(LOCAL_TENANT)
        token = header(scope, "x-api-key") or _authorized(header(scope, "authorization") or "")
        key = self._keys.find(token) if token else None
        if key is None:
            raise RefusedError(401, "a valid API key is needed")
        if needed not in key.scopes and (needed, "run" in key.scopes) != ("view", True):
            raise RefusedError(403, f"the API key lacks the scope {needed!r}")
        return Principal(key.tenant, key.scopes)


def header(scope: Scope, name: str) -> str | None:
    """Return a header of a request; None without one.

    Raises:
        RefusedError: It is there more than once, so that two readers might take different ones.
    """
    found = _all(scope, name)
    if len(found) > 1:
        raise RefusedError(400, f"the header {name} may be given once")
    return found[0] if found else None


def _authorized(text: str) -> str:
    """Return the key in an Authorization header; empty without one."""
    kind, _, token = text.partition(" ")
    if kind.lower() in ("bearer", "token"):
        return token.strip()
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(token, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _all(scope: Scope, name: str) -> list[str]:
    wanted = name.encode()
    return [str(value, "latin-1") for key, value in scope["headers"] if key == wanted]


def host_of(text: str) -> str:
    """Return the name or the address in a Host header, without its port."""
    if text.startswith("["):
        return text[1:].partition("]")[0].lower()
    return text.partition(":")[0].lower()


@functools.lru_cache(1024)
def is_loopback(host: str) -> bool:
    """Return whether a name or an address is this computer's own, for itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
