"""Secrets for TLS whose certificate and key do not belong together. Said in the words of Go's TLS."""

import base64
from collections.abc import Iterator
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from kubevirt.apiserver.registry.rules.rules import Object

_CERTIFICATE: Final = "tls.crt"
_KEY: Final = "tls.key"
_PEM: Final = b"-----BEGIN "


def of_secret(new: Object, _: Object | None) -> Iterator[str]:
    if new.get("type") == "kubernetes.io/tls":
        data = new.get("data") or {}
        complaint = _complaint(_decoded(data, _CERTIFICATE), _decoded(data, _KEY))
        yield from [complaint] if complaint else []


def _decoded(data: Object, name: str) -> bytes:
    return base64.b64decode(data.get(name) or "")


def _complaint(certificate: bytes, key: bytes) -> str:
    for what, text in (("certificate", certificate), ("key", key)):
        if _PEM not in text:
            return f"tls: failed to find any PEM data in {what} input"
    try:
        owner = x509.load_pem_x509_certificate(certificate).public_key()
        known = load_pem_private_key(key, password=None).public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "tls: failed to parse certificate or private key"
    return "" if owner == known else "tls: private key does not match public key"
