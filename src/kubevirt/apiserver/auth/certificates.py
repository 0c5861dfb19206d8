"""A client certificate is somebody: its common name the user, its organisations the groups.

TLS has checked that the peer holds the key, and that one of our authorities signed the certificate, but not which,
and not until when: it would end the connection without a word, where Kubernetes answers 401. So both are
checked here. What was found for a certificate is remembered; it cannot change, but it can expire.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubevirt.apiserver.auth.credentials import BadCredentials
from kubevirt.apiserver.auth.names import CREDENTIAL_ID
from kubevirt.apiserver.registry.identity import Identity

REMEMBERED: Final = 1024
_ANY_PURPOSE: Final = x509.ObjectIdentifier("2.5.29.37.0")


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A certificate that one of the authorities signed for a client."""

    name: str
    groups: tuple[str, ...]
    fingerprint: str
    start: datetime
    end: datetime

    @property
    def identity(self) -> Identity | None:
        """None for one that names nobody."""
        if not self.name:
            return None
        extra = {CREDENTIAL_ID: (f"X509SHA256={self.fingerprint}",)}
        return Identity(user=self.name, groups=self.groups, extra=extra)


class ClientCertificates:
    def __init__(self, authorities: Sequence[bytes]) -> None:
        """PEM, each may hold several."""
        self._authorities = [
            each for pem in authorities for each in x509.load_pem_x509_certificates(pem)
        ]
        self._known: dict[bytes, Verified | BadCredentials] = {}

    def verify(self, certificate: bytes, now: datetime) -> Verified:
        found = self._known.get(certificate)
        if found is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            found = self._known[certificate] = self._look(certificate)
        if isinstance(found, BadCredentials):
            raise found
        if not found.start <= now <= found.end:
            raise BadCredentials(
                f"the certificate of {found.name} is good from {found.start:%Y-%m-%dT%H:%M:%SZ} until "
                f"{found.end:%Y-%m-%dT%H:%M:%SZ}"
            )
        return found

    def _look(self, der: bytes) -> Verified | BadCredentials:
        try:
            certificate = x509.load_der_x509_certificate(der)
            names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
            groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
            if not any(_is_signed_by(certificate, each) for each in self._authorities):
                return BadCredentials("a client certificate is signed by an unknown authority")
            if not _is_for_clients(certificate):
                return BadCredentials("a certificate is shown by a client, but is not for clients")
        except (ValueError, UnsupportedAlgorithm) as error:
            return BadCredentials(f"a client certificate cannot be read: {error}")
        return Verified(
            name=_text(names[-1]) if names else "",
            groups=tuple(_text(each) for each in groups),
            fingerprint=hashlib.sha256(der).hexdigest(),
            start=certificate.not_valid_before_utc,
            end=certificate.not_valid_after_utc,
        )


def _text(attribute: x509.NameAttribute[str | bytes]) -> str:
    value = attribute.value
    return value if isinstance(value, str) else value.decode(errors="replace")


def _is_signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _is_for_clients(certificate: x509.Certificate) -> bool:
    """One that names no purpose is for all of them, as Go sees it."""
    try:
        purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return ExtendedKeyUsageOID.CLIENT_AUTH in purposes or _ANY_PURPOSE in purposes
