"""The server's own certificate: signed by its own authority, and renewed while it serves.

Connections that are open keep the one they began with, new ones get the new one. It is looked at every hour and not
only when it should be due: the machine's clock may jump, or the machine may have slept.
"""

import ssl
from pathlib import Path
from typing import Final

from cryptography.x509 import load_pem_x509_certificate

from kubevirt.apiserver.auth.authority import Authority, Pair, Wanted
from kubevirt.apiserver.auth.folder import TrustFolder
from kubevirt.apiserver.auth.tls import server_context
from kubevirt.base.clock import Clock
from kubevirt.base.errors import UserError
from kubevirt.base.log import get_logger

log = get_logger(__name__)

AUTHORITY: Final = "ca"
NAME: Final = "apiserver"
LOOK_EVERY_S: Final = 3600.0


class ServingCertificate:
    def __init__(self, folder: TrustFolder, place: Path, wanted: Wanted, clock: Clock) -> None:
        """`place` is where the folder is: TLS reads its files by name."""
        self._folder = folder
        self._wanted = wanted
        self._clock = clock
        self._files = (place / f"{NAME}.crt", place / f"{NAME}.key")
        self._pair = self._current()
        self.context: ssl.SSLContext = server_context(
            *self._files, (self.authority.pair.certificate,)
        )

    @property
    def authority(self) -> Authority:
        """Who has signed it, and vouches for clients. Renewed, too, when its time comes."""
        return self._folder.authority(AUTHORITY, "kubernetes", self._clock.now())

    def _current(self) -> Pair:
        return self._folder.certificate(NAME, self._wanted, self.authority, self._clock.now())

    async def run(self) -> None:
        while True:
            await self._clock.sleep(LOOK_EVERY_S)
            try:
                self.renew()
            except (OSError, UserError, ssl.SSLError) as error:
                # A full disk, say. There is a third of its life left to mend it.
                log.warning("the server's certificate could not be renewed", error=error)

    def renew(self) -> None:
        """If it is time."""
        pair = self._current()
        if pair != self._pair:
            self.context.load_cert_chain(*self._files)
            self._pair = pair
            end = load_pem_x509_certificate(pair.certificate).not_valid_after_utc
            log.info("the server has a new certificate", until=end.isoformat())
