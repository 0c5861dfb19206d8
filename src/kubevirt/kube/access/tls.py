"""TLS towards the server: whom we trust and what we show, always as the files say now.

A new context is made when the CA or the client certificate changes. New connections use it; a
connection that is open keeps its own, which the server accepted. In the middle of a rotation the
certificate may be new and the key still old: until the two fit, the last good pair is used.
"""

import os
import ssl
from contextlib import ExitStack

from kubevirt.base.errors import ConfigError
from kubevirt.base.log import get_logger
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.credentials import KeyPair

log = get_logger("kube.tls")

Ingredients = tuple[bytes | None, KeyPair | None]


class Tls:
    """The TLS context of one server, kept up to date."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._context: ssl.SSLContext | None = None
        self._made_of: Ingredients = (None, None)
        self._useless: Ingredients | None = None

    def context(self, key_pair: KeyPair | None) -> ssl.SSLContext:
        """For the next connection."""
        ingredients = (self._config.ca.read() if self._config.ca else None, key_pair)
        if self._context is not None and ingredients in (self._made_of, self._useless):
            return self._context
        try:
            self._context = self._make(*ingredients)
            self._made_of = ingredients
        except ConfigError as error:
            if self._context is None:
                raise
            self._useless = ingredients
            log.warning("changed certificates cannot be used yet", reason=str(error))
        return self._context

    def _make(self, ca: bytes | None, key_pair: KeyPair | None) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # As Go does: a certificate that we are given to trust is an anchor, self-signed or not.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        if self._config.insecure_skip_tls_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif ca is not None:
            self._trust(context, ca)
        else:
            context.load_default_certs()
        if key_pair is not None:
            _show(context, key_pair)
        return context

    def _trust(self, context: ssl.SSLContext, ca: bytes) -> None:
        assert self._config.ca is not None  # noqa: S101  # its bytes are here
        try:
            context.load_verify_locations(cadata=ca.decode("ascii", "ignore"))
        except ssl.SSLError:
            raise ConfigError(
                f"the {self._config.ca.where} is not a PEM certificate; copy it again, whole"
            ) from None


def _show(context: ssl.SSLContext, key_pair: KeyPair) -> None:
    """OpenSSL loads pairs from paths only; memory that has a path keeps the key off the disk."""
    try:
        with ExitStack() as opened:
            certificate = _path_of(key_pair.certificate, opened)
            key = _path_of(key_pair.key, opened)
            # A password, be it wrong, keeps OpenSSL from asking for one at the terminal.
            context.load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        raise ConfigError(
            f"the {key_pair.where} cannot be used with its key: {_why(error, key_pair)}"
        ) from None


def _path_of(content: bytes, opened: ExitStack) -> str:
    memory = os.memfd_create("pem")
    opened.callback(os.close, memory)
    with open(memory, "wb", closefd=False) as file:
        file.write(content)
    return f"/proc/self/fd/{memory}"


def _why(error: ssl.SSLError, key_pair: KeyPair) -> str:
    if b"ENCRYPTED" in key_pair.key:
        return "the key is protected by a password; store it without one"
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the two do not belong together; take both from the same place"
    return "one of them is not valid PEM; copy both again, whole"
