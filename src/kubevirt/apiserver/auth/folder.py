"""Where certificates and keys are kept: one folder, keys readable by their owner only.

What is there and still good is used; what is missing, due or for other names is made anew. An authority keeps its
key for ever, so that what it has signed stays good when its own certificate is renewed.

    ca.crt ca.key                          who signs the server and its clients
    front-proxy-ca.crt front-proxy-ca.key  who signs the proxies that may say who somebody is
    sa.key                                 signs the tokens of service accounts
    NAME.crt NAME.key                      whatever was asked for
"""

import os
import stat
from datetime import datetime
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm

from kubevirt.apiserver.auth.authority import Authority, Pair, Wanted, signing_key, why_new
from kubevirt.base.errors import UserError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger

log = get_logger(__name__)

_PUBLIC: Final = 0o644
_PRIVATE: Final = 0o600
_LIMIT: Final = 64 << 10


class TrustFolder:
    def __init__(self, root: Root, path: str) -> None:
        """`path` is for messages."""
        self._root = root
        self._path = path

    def authority(self, name: str, common_name: str, now: datetime) -> Authority:
        pair = self.read(name)
        if pair is None:
            if self._root.exists(f"{name}.crt"):
                raise UserError(
                    f"{self._path}/{name}.crt is an authority without its key; put {name}.key back, or "
                    f"remove {name}.crt to begin with a new one that nobody trusts yet",
                    reason="NoKey",
                )
            return self._kept_authority(name, Authority.create(common_name, now))
        try:
            found = Authority.load(pair)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise UserError(
                f"{self._path}/{name}.crt and {name}.key are no authority of ours ({error}); put back what "
                "was there, or remove both to begin with a new one that nobody trusts yet",
                reason="BadAuthority",
            ) from None
        return self._kept_authority(name, found.renewed(now)) if found.is_due(now) else found

    def _kept_authority(self, name: str, authority: Authority) -> Authority:
        log.info("authority written", name=name)
        self.write(name, authority.pair)
        return authority

    def certificate(self, name: str, wanted: Wanted, authority: Authority, now: datetime) -> Pair:
        """The one that is there, or a new one if that is no good any more."""
        found = self.read(name)
        why = why_new(found, wanted, authority, now)
        if found is not None and not why:
            return found
        log.info("certificate issued", name=name, because=why)
        made = authority.issue(wanted, now)
        self.write(name, made)
        return made

    def signing_key(self) -> bytes:
        if self._root.exists("sa.key"):
            return self._secret("sa.key")
        made = signing_key()
        self._root.write("sa.key", made, mode=_PRIVATE)
        return made

    def read(self, name: str) -> Pair | None:
        """None if one of the two is missing."""
        if not self._root.exists(f"{name}.key") or not self._root.exists(f"{name}.crt"):
            return None
        certificate = self._root.read(f"{name}.crt", limit=_LIMIT)
        return Pair(certificate, self._secret(f"{name}.key"))

    def write(self, name: str, pair: Pair) -> None:
        """The key first: a certificate that is there has its key, or is seen to be of another."""
        self._root.write(f"{name}.key", pair.key, mode=_PRIVATE)
        self._root.write(f"{name}.crt", pair.certificate, mode=_PUBLIC)

    def _secret(self, file: str) -> bytes:
        found = self._root.stat(file)
        if stat.S_IMODE(found.st_mode) & 0o077 or found.st_uid not in {0, os.geteuid()}:
            raise UserError(
                f"{self._path}/{file} can be read by others, who may have it by now; remove it to have a "
                f"new one made, or keep it with: chmod 600 {self._path}/{file}",
                reason="KeyIsOpen",
            )
        return self._root.read(file, limit=_LIMIT)
