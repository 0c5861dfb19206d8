"""The flow of requests: how many each user has under way.

Whoever has too many is told to come again in a second, which clients do by themselves. Nobody waits in a
queue here: one that is full helps no one, and one that is long answers those who have given up.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from kubevirt.apiserver import refusals
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.http.limits import Limits
from kubevirt.apiserver.registry.identity import MASTERS, Identity

_STREAMS = frozenset({"attach", "exec", "log", "portforward", "proxy"})


def is_stream(asked: Asked) -> bool:
    """Whether it goes on for as long as somebody is there."""
    return asked.verb == "watch" or asked.subresource in _STREAMS


class Flow:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._requests: Counter[str] = Counter()
        self._streams: Counter[str] = Counter()

    @contextmanager
    def entered(self, identity: Identity, *, is_stream: bool) -> Iterator[None]:
        """Raises a refusal for one too many."""
        limits, user = self._limits, identity.user
        is_master = MASTERS in identity.groups
        if is_stream:
            under_way, most, of_user = self._streams, limits.watches, limits.watches_of_user
        else:
            under_way, most = self._requests, limits.requests
            of_user = limits.requests_of_masters if is_master else limits.requests_of_user
        # However many others there are, whoever has to mend the system gets through.
        is_full = under_way.total() >= most and not is_master
        if is_full or under_way[user] >= of_user:
            raise refusals.too_many_requests()
        under_way[user] += 1
        try:
            yield
        finally:
            under_way[user] -= 1
            if not under_way[user]:
                del under_way[user]
