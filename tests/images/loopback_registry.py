"""A registry on 127.0.0.1 that serves one image which an engine has saved: the reading half of the
distribution interface, as much of it as a pull asks for.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO, TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
_UNKNOWN = b'{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}'


class LoopbackRegistry:
    """What it serves, and what it was asked for."""

    def __init__(self, saved: IO[bytes]) -> None:
        self.asked: list[str] = []
        self.blobs: dict[str, bytes] = {}
        with tarfile.open(fileobj=saved) as archive:

            def content(name: str) -> bytes:
                file = archive.extractfile(name)
                assert file is not None
                return file.read()

            (entry,) = json.loads(content("manifest.json"))
            layers = [gzip.compress(content(name), mtime=0) for name in entry["Layers"]]
            manifest = {
                "schemaVersion": 2,
                "mediaType": _MANIFEST,
                "config": self._keep(_CONFIG, content(entry["Config"])),
                "layers": [self._keep(_LAYER, layer) for layer in layers],
            }
        self.manifest = json.dumps(manifest).encode()
        self.digest = _digest(self.manifest)

    def _keep(self, kind: str, blob: bytes) -> dict[str, Any]:
        self.blobs[_digest(blob)] = blob
        return {"mediaType": kind, "size": len(blob), "digest": _digest(blob)}

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve within the block; gives its address, such as ``127.0.0.1:40001``."""

        class Handler(_Handler):
            registry = self

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class _Handler(BaseHTTPRequestHandler):
    registry: ClassVar[LoopbackRegistry]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        registry = self.registry
        registry.asked.append(f"{self.command} {self.path}")
        _, _, last = self.path.rpartition("/")
        status, kind, body, digest = 404, "application/json", _UNKNOWN, ""
        if self.path == "/v2/":
            status, body = 200, b"{}"
        elif "/manifests/" in self.path and last in ("test", registry.digest):
            status, kind, body, digest = 200, _MANIFEST, registry.manifest, registry.digest
        elif "/blobs/" in self.path and last in registry.blobs:
            status, kind, body = 200, "application/octet-stream", registry.blobs[last]
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
        if digest:
            self.send_header("Docker-Content-Digest", digest)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Tests look at `asked` instead."""
