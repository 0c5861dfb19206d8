"""Tokens of service accounts: which ones a pod wants, and when they are to be renewed.

A token is renewed when four fifths of its life are over, or after a day; until then it stays, so that
files do not change for nothing.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.embedded.objects.pods import spec_of

DEFAULT_LIFE_S: Final = 3600
_LONGEST: Final = timedelta(hours=24)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    volume: str
    path: str
    audience: str = ""
    """Empty for the API server's own."""
    life_s: int = DEFAULT_LIFE_S


def wanted(pod: Pod) -> Iterator[Wanted]:
    for volume in spec_of(pod).volumes:
        for source in volume.projected.sources if volume.projected else ():
            if (token := source.service_account_token) is not None:
                yield Wanted(
                    volume=volume.name,
                    path=token.path,
                    audience=token.audience or "",
                    life_s=token.expiration_seconds or DEFAULT_LIFE_S,
                )


def renew_at(issued: datetime, expires: datetime) -> datetime:
    return issued + min((expires - issued) * 4 / 5, _LONGEST)
