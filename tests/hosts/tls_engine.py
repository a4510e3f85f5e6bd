"""A container engine that is reached over TCP with TLS: a proxy before the real one's socket."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ipaddress
import ssl
import threading
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK = 1 << 16


class TlsEngine:
    """The proxy; it lets in only who has its client's certificate.

    Args:
        target: Path of the engine's socket.
        folder: Gets ``ca.pem``, ``cert.pem`` and ``key.pem``, as ``DOCKER_CERT_PATH`` has them.
    """

    def __init__(self, target: str, folder: Path) -> None:
        self._target = target
        self._folder = folder
        self.connections = 0
        """How many have passed."""
        self.carried = 0
        """Bytes that have, both ways."""
        self._make_certificates()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> TlsEngine:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def environment(self) -> dict[str, str]:
        """What has Docker's clients use it."""
        port = self._server.sockets[0].getsockname()[1]
        return {
            "DOCKER_HOST": f"tcp://127.0.0.1:{port}",
            "DOCKER_TLS_VERIFY": "1",
            "DOCKER_CERT_PATH": str(self._folder),
        }

    async def _serve(self) -> asyncio.Server:
        context = ssl.create_default_context(
            ssl.Purpose.CLIENT_AUTH, cafile=str(self._folder / "ca.pem")
        )
        context.load_cert_chain(self._folder / "server.pem", self._folder / "server-key.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        return await asyncio.start_server(self._pass, "127.0.0.1", 0, ssl=context)

    async def _stop(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Transports that were aborted close their sockets in the loop's next turn.
        await asyncio.sleep(0.05)

    async def _pass(self, near: asyncio.StreamReader, to_near: asyncio.StreamWriter) -> None:
        self.connections += 1
        far, to_far = await asyncio.open_unix_connection(self._target)
        both = [
            asyncio.ensure_future(self._copy(source, target))
            for source, target in ((near, to_far), (far, to_near))
        ]
        try:
            # TLS has no half that could be closed.
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # Nothing is waited for here: a second cancellation would leave the sockets open.
            for writer in (to_near, to_far):
                writer.transport.abort()
            for each in both:
                each.cancel()

    async def _copy(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(_CHUNK):
                self.carried += len(data)
                target.write(data)
                await target.drain()

    def _make_certificates(self) -> None:
        authority, key = _certificate("engine authority", None, None)
        self._write("ca.pem", authority)
        for name, purpose, files in (
            ("engine", ExtendedKeyUsageOID.SERVER_AUTH, ("server.pem", "server-key.pem")),
            ("client", ExtendedKeyUsageOID.CLIENT_AUTH, ("cert.pem", "key.pem")),
        ):
            signed, own_key = _certificate(name, (authority, key), purpose)
            self._write(files[0], signed)
            (self._folder / files[1]).write_bytes(
                own_key.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                )
            )

    def _write(self, name: str, certificate: x509.Certificate) -> None:
        data = certificate.public_bytes(serialization.Encoding.PEM)
        (self._folder / name).write_bytes(data)


def _certificate(
    name: str,
    signer: tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None,
    purpose: x509.ObjectIdentifier | None,
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    issuer, issuer_key = (subject, key) if signer is None else (signer[0].subject, signer[1])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=signer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()),
            critical=False,
        )
    )
    if purpose is None:
        builder = builder.add_extension(
            x509.KeyUsage(
                digital_signature=True,
                key_cert_sign=True,
                crl_sign=True,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
    else:
        places = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
        builder = builder.add_extension(x509.SubjectAlternativeName(places), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256()), key
