"""Certificates with their keys, as others bring them. What is wrong is said in the words of Go's TLS."""

from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

_PEM: Final = b"-----BEGIN "


def complaint(certificate: bytes, key: bytes) -> str:
    """Empty if they belong together."""
    for what, text in (("certificate", certificate), ("key", key)):
        if _PEM not in text:
            return f"tls: failed to find any PEM data in {what} input"
    try:
        owner = x509.load_pem_x509_certificate(certificate).public_key()
        known = load_pem_private_key(key, password=None).public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "tls: failed to parse certificate or private key"
    return "" if owner == known else "tls: private key does not match public key"
