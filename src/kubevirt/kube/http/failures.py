"""Failures of the connection, in words: what aiohttp, OpenSSL and the kernel raise becomes one
sentence that names the server, the cause and the way out.
"""

import errno
import ssl

import aiohttp

from kubevirt.base.errors import Unreachable
from kubevirt.kube.errors import NotAnApi, Untrusted

EXPIRED, NOT_YET_VALID, WRONG_HOST, WRONG_ADDRESS = 10, 9, 62, 64
"""OpenSSL's codes for why a certificate is not accepted."""


def explain(
    error: aiohttp.ClientError | OSError, server: str, *, configured_by: str, complaint: str = ""
) -> Unreachable | NotAnApi:
    """The error to raise instead.

    `complaint` is what is wrong with our own certificate: a server may refuse it by hanging up.
    """
    tls = _tls_error(error)
    if isinstance(tls, ssl.SSLCertVerificationError):
        return Untrusted(_server_certificate(tls, server, configured_by))
    if tls is not None and tls.reason == "WRONG_VERSION_NUMBER":
        return NotAnApi(server, "something that is not TLS; if it speaks plain HTTP, write http://")
    if complaint:
        return Untrusted(
            f"{server} does not let us in: the {complaint};"
            f" renew it, or log in anew (it is named by {configured_by})"
        )
    if tls is not None:
        return Untrusted(
            f"{server} refused the TLS connection ({_words(tls.reason)});"
            f" check the client certificate in {configured_by}"
        )
    return Unreachable(f"{server} {_connection(error)}")


def too_slow(server: str, what: str, seconds: float) -> Unreachable:
    return Unreachable(
        f"{server} did not finish {what} within {seconds:g} s;"
        " check the network and the load of the server, then try again"
    )


def silent(server: str, what: str) -> Unreachable:
    return Unreachable(
        f"{server} fell silent: the {what} did not end in its time; check the network and try again"
    )


def cut_off(server: str, what: str) -> Unreachable:
    return Unreachable(f"{server} closed the connection in the middle of {what}; try again")


def _tls_error(error: BaseException) -> ssl.SSLError | None:
    """It comes wrapped by aiohttp in several ways, and sometimes only chained."""
    candidates = (
        getattr(error, "certificate_error", None),
        getattr(error, "os_error", None),
        error.__cause__,
        error,
    )
    return next((each for each in candidates if isinstance(each, ssl.SSLError)), None)


def _server_certificate(
    error: ssl.SSLCertVerificationError, server: str, configured_by: str
) -> str:
    certificate = f"the certificate of {server}"
    if error.verify_code == EXPIRED:
        return f"{certificate} has expired; renew it on the server, or check this machine's clock"
    if error.verify_code == NOT_YET_VALID:
        return f"{certificate} is not valid yet; check this machine's clock"
    if error.verify_code in (WRONG_HOST, WRONG_ADDRESS):
        return (
            f"{certificate} is for another name;"
            f" correct the address in {configured_by}, or set tls-server-name to a name in it"
        )
    return (
        f"{certificate} is not signed by an authority that we trust ({error.verify_message});"
        f" set the certificate-authority in {configured_by}"
    )


def _connection(error: aiohttp.ClientError | OSError) -> str:
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"cannot be reached: the proxy answered {error.status}; check the proxy-url"
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return "cannot be reached: the proxy does not answer; check the proxy-url"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "cannot be found: its name does not resolve; check the address and the DNS"
    if isinstance(error, TimeoutError):
        return "does not answer; check the address, the network and firewalls on the way"
    if getattr(error, "errno", None) == errno.ECONNREFUSED:
        return "refuses connections; check that the server runs and that the port is right"
    if getattr(error, "errno", None) in (errno.EHOSTUNREACH, errno.ENETUNREACH):
        return "cannot be reached: there is no route to it; check the network"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "closed the connection in the middle of its answer; try again"
    if isinstance(error, aiohttp.ClientResponseError):
        return "answered with something that is not HTTP; check the address"
    return "closed the connection before it answered; check that the server runs and try again"


def _words(reason: str | None) -> str:
    return (reason or "no reason given").replace("_", " ").lower()
