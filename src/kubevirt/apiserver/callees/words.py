"""Why a callee did not answer, in the words of Go's transport where they are known."""

import asyncio
import errno
import ssl
from typing import Final

import aiohttp

from kubevirt.apiserver.callees.callee import Callee

_NUMBERS: Final = {
    errno.ECONNREFUSED: "connect: connection refused",
    errno.EHOSTUNREACH: "connect: no route to host",
    errno.ENETUNREACH: "connect: network is unreachable",
    errno.ETIMEDOUT: "i/o timeout",
    errno.ENOENT: "connect: no such file or directory",
}
_UNKNOWN_AUTHORITY: Final = (2, 18, 19, 20, 21, 24, 26)
"""OpenSSL's ways to say that nobody whom we trust has signed it, or not for this."""
_EXPIRED: Final = (9, 10)
_OTHER_NAMES: Final = (62, 64)
"""Of a host, or of an address. Go tells whose it is, which OpenSSL keeps to itself."""
TLS_FAILED: Final = "tls: failed to verify certificate: x509: "


def of(error: BaseException, callee: Callee) -> str:
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return _of_certificate(error.certificate_error, callee)
        case aiohttp.ClientConnectorDNSError():
            return f"dial tcp: lookup {callee.host}: no such host"
        case aiohttp.ClientSSLError():
            return "tls: handshake failure"
        case aiohttp.ClientConnectorError():
            known = _NUMBERS.get(error.os_error.errno or 0, error.os_error.strerror or "failed")
            return f"dial tcp {error.host}:{error.port}: {known}"
        case aiohttp.ServerDisconnectedError():
            return "EOF"
        case TimeoutError() | asyncio.CancelledError():
            return "context deadline exceeded"
        case ConnectionResetError() | aiohttp.ClientOSError():
            return "read: connection reset by peer"
        case aiohttp.ClientResponseError():
            return "net/http: HTTP/1.x transport connection broken: malformed HTTP response"
        case aiohttp.ClientPayloadError():
            return "unexpected EOF"
    return str(error) or error.__class__.__name__


def _of_certificate(error: Exception, callee: Callee) -> str:
    code = error.verify_code if isinstance(error, ssl.SSLCertVerificationError) else 0
    if code in _UNKNOWN_AUTHORITY:
        return f"{TLS_FAILED}certificate signed by unknown authority"
    if code in _EXPIRED:
        return f"{TLS_FAILED}certificate has expired or is not yet valid"
    if code in _OTHER_NAMES:
        return f"{TLS_FAILED}certificate is valid for others, not {callee.host}"
    return f"{TLS_FAILED}{error}"
