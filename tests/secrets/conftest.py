"""An authority of the tests' own, hosts that it proves, and gates between them and a namespace."""

from __future__ import annotations

import contextlib
import datetime
import http.server
import json
import os
import socket
import ssl
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from llm_sandbox.egress.gate import Gate
from llm_sandbox.egress.netns_sockets import open_netns_sockets
from llm_sandbox.network import NetworkRules
from llm_sandbox.secrets import Secret, plan_secrets
from tests.egress.namespaces import Namespace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox.secrets import SecretPlan

NAME, OTHER, THIRD = "api.test", "other.test", "wrong.test"
VALUE = "sk-live-Zq81vNw40LbXc72RtYd95"
"""What must not be found anywhere."""
INSIDE = (Path(__file__).parent / "inside.py").read_text()


def speaks(sock: socket.socket) -> bool:
    """Whether something comes; the library leaves a socket open that was reset before."""
    try:
        return bool(sock.recv(1, socket.MSG_PEEK))
    except OSError:
        return False


class Signer:
    """A certificate authority."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        own = self._sign(self._name, self._key, x509.BasicConstraints(ca=True, path_length=None))
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extension: Any
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
            .sign(self._key, hashes.SHA256())
        )

    def context(self, name: str) -> ssl.SSLContext:
        """What a server is made by that is proved to have a name."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        alternative = x509.SubjectAlternativeName([x509.DNSName(name)])
        certificate = self._sign(subject, key, alternative)
        file = self._folder / f"{os.urandom(4).hex()}.pem"
        pem = serialization.Encoding.PEM
        kind, secrecy = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        file.write_bytes(key.private_bytes(pem, kind, secrecy) + certificate.public_bytes(pem))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["h2", "http/1.1"])
        context.load_cert_chain(file)
        return context


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[dict[str, Any]]]

    def do_GET(self) -> None:
        self._note(b"")
        said = "\n".join(f"{name}: {value}" for name, value in self.headers.items())
        body = f"{self.path}\n{said}\n".encode()
        if self.path.startswith("/pieces"):
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for start in range(0, len(body), 5):
                piece = body[start : start + 5]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Said", self.headers.get("Authorization", ""))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            data = b""
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers["Content-Length"]))
        self._note(data)
        body = f"{len(data)} bytes".encode()
        self.send_response(201)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _note(self, body: bytes) -> None:
        self.seen.append(
            {"path": self.path, "fields": dict(self.headers), "body": body, "command": self.command}
        )

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    context: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.context is None:
            super().finish_request(request, client_address)
            return
        if not speaks(request):
            return
        with self.context.wrap_socket(request, server_side=True) as end:
            super().finish_request(end, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Attacks are cut."""


class Site:
    """An HTTP server of this machine's, which keeps what it was asked."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.seen: list[dict[str, Any]] = []
        handler = type("Handler", (_Handler,), {"seen": self.seen})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.context = context
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class RawSite:
    """A server that a function answers at, connection by connection."""

    def __init__(self, context: ssl.SSLContext, handle: Callable[[ssl.SSLSocket], None]) -> None:
        self._context = context
        self._handle = handle
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), sock:
            if speaks(sock):
                with self._context.wrap_socket(sock, server_side=True) as end:
                    self._handle(end)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture(scope="session")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    """The authority that this machine trusts in these tests."""
    return Signer(tmp_path_factory.mktemp("signer"), "trusted")


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    """An authority that nobody trusts."""
    return Signer(tmp_path_factory.mktemp("stranger"), "stranger")


@pytest.fixture(autouse=True)
def _trust(signer: Signer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(signer.file))


@pytest.fixture
def site(signer: Signer) -> Iterator[Site]:
    """A host with a good certificate."""
    made = Site(signer.context(NAME))
    yield made
    made.close()


@pytest.fixture
def raw_site(
    signer: Signer,
) -> Iterator[Callable[[Callable[[ssl.SSLSocket], None]], RawSite]]:
    """Make hosts with good certificates that answer as a function says."""
    made: list[RawSite] = []

    def make(handle: Callable[[ssl.SSLSocket], None]) -> RawSite:
        made.append(RawSite(signer.context(NAME), handle))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Inside:
    """What is behind a gate: a namespace, placeholders, and the authority to believe."""

    def __init__(self, namespace: Namespace, gate: Gate, plan: SecretPlan) -> None:
        self.namespace = namespace
        self.gate = gate
        self.plan = plan

    @property
    def placeholder(self) -> str:
        """What stands for the first secret."""
        return self.plan.bindings[0].placeholder

    def tries(self, *attempts: dict[str, Any]) -> list[str]:
        """What came back for each attempt: bytes as text, or the name of an error."""
        given = [{"authority": self.gate.authority, **attempt} for attempt in attempts]
        found: list[str] = self.namespace.run(INSIDE, json.dumps(given))
        return found

    def get(self, host: str, port: int, *fields: str, path: str = "/", **more: Any) -> str:
        """Ask for something, once."""
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", *fields, "Connection: close"]
        text = "\r\n".join([*lines, "", ""])
        return self.tries({"host": host, "port": port, "send": [text], **more})[0]

    def reasons(self) -> list[tuple[str, str]]:
        """Reason and target of what was refused."""
        return [(event.reason, event.target) for event in self.gate.events()]


@pytest.fixture
def behind() -> Iterator[Callable[..., Inside]]:
    """Put a gate with secrets between a namespace and this machine's loopback."""
    if os.geteuid() != 0:
        pytest.skip("only root can make the network that stands for a sandbox")
    made: list[Inside] = []

    def make(secrets: list[Secret], names: list[str], **more: Any) -> Inside:
        namespace = Namespace()
        rules = NetworkRules.allow(hosts=dict.fromkeys(names, "127.0.0.1"), **more)
        plan = plan_secrets(secrets)
        gate = Gate.start(
            open_netns_sockets(namespace.holder.pid, rules), rules, bindings=plan.bindings
        )
        made.append(Inside(namespace, gate, plan))
        return made[-1]

    yield make
    for one in made:
        one.gate.close()
        one.namespace.close()


def bound(
    *hosts: str, name: str = "TOKEN", value: str = VALUE, query: tuple[str, ...] = ()
) -> Secret:
    """A secret that is bound to hosts."""
    return Secret(name, value, "placeholder", hosts, query=query)
