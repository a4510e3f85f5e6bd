"""Prerequisites of interception: the folders of `cryptography`, and the trusted certificates."""

import importlib.util
import os
import re
import ssl
from pathlib import Path

from llm_sandbox.exceptions import BackendUnavailableError, MissingDependencyError

__all__ = ["library_paths", "trusted_certificates"]

_CERTIFICATE = re.compile(
    rb"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+?-----END CERTIFICATE-----"
)
_USUAL = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def library_paths() -> list[str]:
    """Return the folders in which a process without site packages finds `cryptography`.

    Raises:
        MissingDependencyError: `cryptography` is not installed.
    """
    folders = []
    for module in ("cryptography", "_cffi_backend"):
        found = importlib.util.find_spec(module)
        if found is None or found.origin is None:
            if module == "cryptography":
                raise MissingDependencyError(
                    "a secret that is a placeholder needs the package cryptography, which signs "
                    "the certificates of the sandbox's gate",
                    extra="egress",
                )
            continue  # not every build of it has one
        path = Path(found.origin).parent
        folders.append(str(path.parent if found.submodule_search_locations else path))
    return list(dict.fromkeys(folders))


def trusted_certificates() -> str:
    """Return the certificates of all authorities that this machine trusts, as PEM.

    They come from ``SSL_CERT_FILE``, else from the system, else from `certifi`.

    Raises:
        BackendUnavailableError: None were found.
    """
    named = os.environ.get("SSL_CERT_FILE")
    paths = [named] if named else [ssl.get_default_verify_paths().cafile, *_USUAL, _certifi()]
    for path in filter(None, paths):
        try:
            found = _CERTIFICATE.findall(Path(path).read_bytes())
        except OSError:
            continue
        if found:
            return "\n".join(one.decode("ascii") for one in found) + "\n"
    raise BackendUnavailableError(
        "this machine trusts no certificate authority that could be found, so that no host could "
        "be proved to be what it says",
        hint="apt-get install ca-certificates, or SSL_CERT_FILE=/path/to/bundle.pem",
    )


def _certifi() -> str | None:
    found = importlib.util.find_spec("certifi")
    if found is None or found.origin is None:
        return None
    return str(Path(found.origin).parent / "cacert.pem")
