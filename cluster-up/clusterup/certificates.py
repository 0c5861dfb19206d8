"""The cluster's certificates: authorities, and what they sign.

Keys are P-256: they are made in under a millisecond, where RSA would take longer than etcd needs
to start. Every certificate carries key usage and both key identifiers, because Python 3.13 refuses
chains without them.
"""

import datetime as dt
import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_SKEW = dt.timedelta(minutes=5)
"""How far into the past validity reaches, for clocks that do not quite agree."""
_AUTHORITY_LIFE = dt.timedelta(days=3650)
_LEAF_LIFE = dt.timedelta(days=365)


def now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


@dataclass(frozen=True)
class Validity:
    """From when until when a certificate is good."""

    start: dt.datetime
    end: dt.datetime

    @classmethod
    def lasting(cls, life: dt.timedelta = _LEAF_LIFE) -> "Validity":
        return cls(now() - _SKEW, now() + life)

    @classmethod
    def expired(cls) -> "Validity":
        """Good once, for an hour, and over an hour ago."""
        return cls(now() - dt.timedelta(hours=2), now() - dt.timedelta(hours=1))


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, both PEM."""

    certificate: bytes
    key: bytes

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Write NAME.crt and NAME.key, the key readable by its owner only; return both paths."""
        certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
        certificate.write_bytes(self.certificate)
        write_secret(key, self.key)
        return certificate, key


def write_secret(path: Path, content: bytes) -> None:
    """Write a file that was never readable by others, not even while it was empty."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, 0o600)
        file.write(content)


def signing_key() -> bytes:
    """A private key for signing service-account tokens, PEM."""
    return _pem(ec.generate_private_key(ec.SECP256R1()))


def public_half(key: bytes) -> bytes:
    private = serialization.load_pem_private_key(key, password=None)
    return private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


class Authority:
    """A certificate authority held in memory; `pair` is what to write down."""

    def __init__(self, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self._certificate = certificate
        self._key = key
        self.pair = Pair(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))

    @classmethod
    def create(cls, name: str) -> "Authority":
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _builder(subject, subject, key.public_key(), Validity.lasting(_AUTHORITY_LIFE))
        builder = builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        builder = _with_identifiers(builder, key.public_key(), key.public_key())
        builder = builder.add_extension(_usage(authority=True), critical=True)
        return cls(builder.sign(key, hashes.SHA256()), key)

    @classmethod
    def load(cls, certificate: Path, key: Path) -> "Authority":
        private = serialization.load_pem_private_key(key.read_bytes(), password=None)
        if not isinstance(private, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{key} holds no elliptic-curve key")
        return cls(x509.load_pem_x509_certificate(certificate.read_bytes()), private)

    def client(
        self, user: str, groups: Sequence[str] = (), validity: Validity | None = None
    ) -> Pair:
        """A client certificate; Kubernetes takes the common name as user, organisations as groups."""
        return self._issue(user, groups, (), validity, [ExtendedKeyUsageOID.CLIENT_AUTH])

    def server(self, name: str, names: Sequence[str], validity: Validity | None = None) -> Pair:
        """A serving certificate for host names and addresses."""
        return self._issue(name, (), names, validity, [ExtendedKeyUsageOID.SERVER_AUTH])

    def _issue(
        self,
        common_name: str,
        groups: Sequence[str],
        names: Sequence[str],
        validity: Validity | None,
        usages: Sequence[x509.ObjectIdentifier],
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name(
            [
                *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups),
                x509.NameAttribute(NameOID.COMMON_NAME, common_name),
            ]
        )
        builder = _builder(
            subject, self._certificate.subject, key.public_key(), validity or Validity.lasting()
        )
        builder = builder.add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        builder = _with_identifiers(builder, key.public_key(), self._key.public_key())
        builder = builder.add_extension(_usage(authority=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        if names:
            alternatives = x509.SubjectAlternativeName([_general_name(name) for name in names])
            builder = builder.add_extension(alternatives, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return Pair(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    validity: Validity,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.start)
        .not_valid_after(validity.end)
    )


def _with_identifiers(
    builder: x509.CertificateBuilder,
    own: ec.EllipticCurvePublicKey,
    issuer: ec.EllipticCurvePublicKey,
) -> x509.CertificateBuilder:
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(own), critical=False)
    return builder.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer), critical=False
    )


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
