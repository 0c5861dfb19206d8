"""HTTP as a kubelet's probes ask by it: redirects are followed, but on the same host only, and not for ever.

A container cannot lead its node elsewhere. An answer that leads to another host, or that leads nowhere, is a good
one all the same, with a warning.
"""

from collections.abc import Mapping
from typing import Final

import aiohttp
import msgspec
from yarl import URL

from kubevirt.embedded.node.probes.schedule import Answer
from kubevirt.embedded.node.standpoint import Standpoint

SAID: Final = 512
"""Characters of an answer that are told to users."""
MOST_REQUESTS: Final = 10
_BODY_BYTES: Final = 10 * 1024
_ANY_CERTIFICATE: Final = False
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
"""Other answers of that kind tell of no other place."""


class _Reply(msgspec.Struct, frozen=True, kw_only=True):
    status: int
    text: str
    location: str
    """Where it leads; empty if it does not."""


async def ask(url: URL, headers: Mapping[str, str], standpoint: Standpoint) -> Answer:
    """aiohttp.ClientError, OSError or ValueError where there is no answer."""
    async with aiohttp.ClientSession(
        headers=headers,
        connector=aiohttp.TCPConnector(force_close=True, socket_factory=standpoint.socket),
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        return await _ask(session, url)


async def _ask(session: aiohttp.ClientSession, url: URL) -> Answer:
    host, location = url.host, ""
    for _ in range(MOST_REQUESTS):
        reply = await _get(session, url)
        location = reply.location
        url = url.join(URL(location))
        if not location or url.host != host:
            return _judged(reply)
    said = f'Get "{location[:SAID]}": stopped after {MOST_REQUESTS} redirects'
    return Answer(is_good=False, said=said)


async def _get(session: aiohttp.ClientSession, url: URL) -> _Reply:
    async with session.get(url, ssl=_ANY_CERTIFICATE, allow_redirects=False) as answer:
        body = await answer.content.read(_BODY_BYTES)
        location = answer.headers.get("Location", "") if answer.status in _REDIRECTS else ""
    return _Reply(status=answer.status, text=body.decode(errors="replace"), location=location)


def _judged(reply: _Reply) -> Answer:
    """In a kubelet's words, which hold nothing of the body where the answer is bad."""
    if 200 <= reply.status < 300:
        return Answer(is_good=True, said=reply.text[:SAID])
    if 300 <= reply.status < 400:
        said = f"Probe terminated redirects, Response body: {reply.text[:SAID]}"
        return Answer(is_good=True, said=said, is_warning=True)
    return Answer(is_good=False, said=f"HTTP probe failed with statuscode: {reply.status}")
