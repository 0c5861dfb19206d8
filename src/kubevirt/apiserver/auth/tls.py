"""TLS of the server: it asks clients for a certificate, and lets in those who have none.

OpenSSL would end the connection over an expired certificate; Kubernetes answers 401, which a person can read. So it
does not look at the time, and `certificates.py` does. A certificate of an authority that we do not know still ends
the connection: Python cannot be told otherwise.
"""

import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_NO_CHECK_TIME: Final = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME, which Python has no name for."""


def server_context(
    certificate: Path, key: Path, client_authorities: Sequence[bytes]
) -> ssl.SSLContext:
    """`load_cert_chain` on it once more puts a renewed certificate in place for new connections."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.verify_flags = ssl.VerifyFlags(context.verify_flags | _NO_CHECK_TIME)
    for authority in client_authorities:
        context.load_verify_locations(cadata=authority.decode())
    return context
