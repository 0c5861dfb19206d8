"""Certificates for tests: an authority that signs what it is asked to."""

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Pair:
    certificate: bytes
    key: bytes

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        paths = folder / f"{name}.crt", folder / f"{name}.key"
        paths[0].write_bytes(self.certificate)
        paths[1].write_bytes(self.key)
        return paths


class Authority:
    def __init__(self, name: str = "test authority") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        now = datetime.now(UTC)
        self._certificate = (
            _begin(self._name, self._name, self._key, now - timedelta(days=9), timedelta(days=99))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(
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
            .sign(self._key, hashes.SHA256())
        )
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM)

    def issue(
        self,
        name: str,
        *,
        hosts: tuple[str, ...] = ("127.0.0.1",),
        since: datetime | None = None,
        lasts: timedelta = timedelta(days=1),
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        start = since or datetime.now(UTC) - timedelta(hours=1)
        certificate = (
            _begin(_name(name), self._name, key, start, lasts)
            .add_extension(
                x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False
            )
            .sign(self._key, hashes.SHA256())
        )
        return Pair(
            certificate.public_bytes(serialization.Encoding.PEM),
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
        )

    def server_side(
        self, folder: Path, pair: Pair | None = None, *, clients: "Authority | None" = None
    ) -> ssl.SSLContext:
        """What a server needs; with `clients`, it lets in only whom that authority signed."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate, key = (pair or self.issue("server")).write(folder, "server")
        context.load_cert_chain(certificate, key)
        if clients is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=clients.pem.decode())
        return context


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _begin(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    start: datetime,
    lasts: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + lasts)
    )
