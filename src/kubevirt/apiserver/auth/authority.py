"""The server's own certificate authorities, and what they sign.

Every certificate carries key usage and both key identifiers: Python 3.13 refuses chains without them. Keys are
P-256, made in a fraction of a millisecond. When a certificate is due is decided here, with the time handed in; who
keeps them is `folder.py`.
"""

import ipaddress
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubevirt.base.errors import UserError

_SKEW: Final = timedelta(days=1)
"""How far into the past validity reaches: clocks do not quite agree, and one that is off by a time zone is
set back by hours while everything runs.
"""
AUTHORITY_LIFE: Final = timedelta(days=3650)
LEAF_LIFE: Final = timedelta(days=365)
_LEFT: Final = 3
"""A certificate is renewed when less than this part of its life is left: a third."""
_NAME_LIMIT: Final = 64
"""Of a common name, by X.509."""


class Pair(msgspec.Struct, frozen=True):
    """A certificate and its key, both PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "Pair(…)"  # a key has no place in a log


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a certificate shall say."""

    name: str
    groups: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """Names and addresses of a server."""
    is_client: bool = False
    is_server: bool = False

    @classmethod
    def client(cls, user: str, groups: Sequence[str] = ()) -> "Wanted":
        """Kubernetes takes the common name as the user, organisations as the groups."""
        return cls(name=user, groups=tuple(groups), is_client=True)

    @classmethod
    def node(cls, name: str, hosts: Sequence[str] = ()) -> "Wanted":
        """Both ends of a node: it asks us, and we ask it for logs and consoles."""
        return cls(
            name=f"system:node:{name}",
            groups=("system:nodes",),
            hosts=tuple(hosts),
            is_client=True,
            is_server=bool(hosts),
        )

    @classmethod
    def server(cls, name: str, hosts: Sequence[str]) -> "Wanted":
        return cls(name=name, hosts=tuple(hosts), is_server=True)


class Authority:
    """Held in memory; `pair` is what to write down."""

    def __init__(self, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self._certificate = certificate
        self._key = key
        self.pair = Pair(_pem(certificate), _key_pem(key))

    @classmethod
    def create(cls, name: str, now: datetime) -> "Authority":
        return cls._signed(_common_name(name), ec.generate_private_key(ec.SECP256R1()), now)

    @classmethod
    def load(cls, pair: Pair) -> "Authority":
        return cls(x509.load_pem_x509_certificate(pair.certificate), _load_key(pair.key))

    def renewed(self, now: datetime) -> "Authority":
        """The same name and key for longer: whatever it has signed stays good."""
        return self._signed(self._certificate.subject, self._key, now)

    @classmethod
    def _signed(
        cls, name: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime
    ) -> "Authority":
        builder = _builder(name, name, key.public_key(), key.public_key())
        builder = builder.not_valid_before(now - _SKEW).not_valid_after(now + AUTHORITY_LIFE)
        builder = builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        builder = builder.add_extension(_usage(is_authority=True), critical=True)
        return cls(builder.sign(key, hashes.SHA256()), key)

    def issue(self, wanted: Wanted, now: datetime, life: timedelta = LEAF_LIFE) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(
            _subject(wanted), self._certificate.subject, key.public_key(), self._key.public_key()
        )
        end = min(now + life, self._certificate.not_valid_after_utc)
        builder = builder.not_valid_before(now - _SKEW).not_valid_after(end)
        builder = builder.add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        builder = builder.add_extension(_usage(is_authority=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage(_purposes(wanted)), critical=False)
        if wanted.hosts:
            names = x509.SubjectAlternativeName([_general_name(each) for each in wanted.hosts])
            builder = builder.add_extension(names, critical=False)
        return Pair(_pem(builder.sign(self._key, hashes.SHA256())), _key_pem(key))

    def has_signed(self, certificate: x509.Certificate) -> bool:
        try:
            certificate.verify_directly_issued_by(self._certificate)
        except (ValueError, TypeError, InvalidSignature):
            return False
        return True

    def is_due(self, now: datetime) -> bool:
        return is_due(
            self._certificate.not_valid_before_utc, self._certificate.not_valid_after_utc, now
        )


def is_due(start: datetime, end: datetime, now: datetime) -> bool:
    """Whether to renew now. A certificate of the future is one too: the clock was wrong when it was made."""
    return now < start or (end - now) * _LEFT < end - start


def why_new(pair: Pair | None, wanted: Wanted, authority: Authority, now: datetime) -> str:
    """Why a certificate has to be issued, as the end of a sentence; empty if the one at hand is good."""
    if pair is None:
        return "there is none"
    try:
        certificate = x509.load_pem_x509_certificate(pair.certificate)
        key = _load_key(pair.key)
    except (ValueError, TypeError):
        return "it cannot be read"
    if certificate.public_key() != key.public_key():
        return "it is not of its key"
    if not authority.has_signed(certificate):
        return "another authority has signed it"
    if is_due(certificate.not_valid_before_utc, certificate.not_valid_after_utc, now):
        return f"it is good until {certificate.not_valid_after_utc:%Y-%m-%d} only"
    if certificate.subject != _subject(wanted) or _hosts(certificate) != set(wanted.hosts):
        return "it is for another name"
    return ""


def signing_key() -> bytes:
    """A private key for tokens, PEM."""
    return _key_pem(ec.generate_private_key(ec.SECP256R1()))


def _subject(wanted: Wanted) -> x509.Name:
    groups = (x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in wanted.groups)
    return x509.Name([*groups, *_common_name(wanted.name)])


def _common_name(name: str) -> x509.Name:
    if len(name.encode()) > _NAME_LIMIT:
        raise UserError(
            f"{name} is too long for a certificate, which holds {_NAME_LIMIT} bytes; choose a shorter name",
            reason="NameTooLong",
        )
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _purposes(wanted: Wanted) -> list[x509.ObjectIdentifier]:
    found = [ExtendedKeyUsageOID.CLIENT_AUTH] if wanted.is_client else []
    return [*found, ExtendedKeyUsageOID.SERVER_AUTH] if wanted.is_server else found


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    own: ec.EllipticCurvePublicKey,
    signer: ec.EllipticCurvePublicKey,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(own)
        .serial_number(x509.random_serial_number())
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(own), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), critical=False)
    )


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
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


def _hosts(certificate: x509.Certificate) -> set[str]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    addresses = found.get_values_for_type(x509.IPAddress)
    return {*found.get_values_for_type(x509.DNSName), *map(str, addresses)}


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _load_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("no elliptic-curve key")
    return key
