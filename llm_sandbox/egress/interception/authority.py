"""Certificate authority of one sandbox; its key is made here, and never leaves this process."""

import collections
import datetime
import ipaddress
import os
import ssl
from collections.abc import Iterable

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["Authority", "sign_for_itself"]

_LASTS = datetime.timedelta(days=365)
_EARLIER = datetime.timedelta(days=1)
"""Tolerance for clocks that differ."""
_MOST_KEPT = 256
_LONGEST_COMMON_NAME = 64


class Authority:
    """Certificate authority for hosts with bound secrets, and for no others.

    Args:
        names: Domains that it may sign for, subdomains included.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._host_key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name(
            [x509.NameAttribute(NameOID.COMMON_NAME, f"llm-sandbox {os.urandom(4).hex()}")]
        )
        self._kept: collections.OrderedDict[str, ssl.SSLContext] = collections.OrderedDict()
        constraint = x509.NameConstraints([x509.DNSName(name) for name in sorted(set(names))], None)
        self._certificate = (
            self._builder(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(constraint, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = self._certificate.public_bytes(serialization.Encoding.PEM).decode()
        """The certificate that programs have to trust, as PEM."""

    def context(self, name: str) -> ssl.SSLContext:
        """Return the TLS context that serves a host's name to the program."""
        found = self._kept.pop(name, None) or self._make(name)
        self._kept[name] = found
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return found

    def _make(self, name: str) -> ssl.SSLContext:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:_LONGEST_COMMON_NAME])])
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        certificate = (
            self._builder(subject, self._host_key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(usage, critical=False)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        context = _serving(self._host_key, certificate)
        context.set_alpn_protocols(["http/1.1"])
        return context

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        own = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return _builder(subject, self._name, key).add_extension(own, critical=False)


def sign_for_itself(host: str, address: str) -> tuple[ssl.SSLContext, str]:
    """Make a key and a self-signed certificate.

    Args:
        host: Name that the certificate is for.
        address: Address that the certificate is for.

    Returns:
        The TLS context of a server, and the certificate as PEM, for clients to trust.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    subjects = [x509.DNSName(host), x509.IPAddress(ipaddress.ip_address(address))]
    certificate = (
        _builder(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(subjects), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM).decode()
    return _serving(key, certificate), pem


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(now + _LASTS)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _serving(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> ssl.SSLContext:
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.num_tickets = 0
    # `ssl` reads keys from files only; this one is in memory, and no other process's.
    fd = os.memfd_create("certificate")
    try:
        os.write(fd, secret + certificate.public_bytes(pem))
        context.load_cert_chain(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)
    return context


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )
