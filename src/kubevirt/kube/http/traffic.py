"""What a client asked its server: counts and times, by verb and by URL with the names left out.

The transport tells it of every answer; `metrics.py` shows it. Labels are those that dashboards made
for KubeVirt expect, and their number is bounded by what a program asks for, never by how many objects
there are.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

from kubevirt.api.resource import Resource
from kubevirt.kube.histogram import Histogram, exponential

LATENCY_BUCKETS_S = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0),
    *(4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0),
)
WAIT_BUCKETS_S = exponential(0.001, 2, 10)

_VERBS = {"PUT": "UPDATE", "POST": "CREATE"}
_UNKNOWN = "none"
_NO_ANSWER = "<error>"


Heard = Callable[[str, str, int | None, float], None]
"""Of each answer: the method, the address, the code if there was one, seconds."""


class Traffic:
    def __init__(self) -> None:
        self.on_answer: Heard | None = None
        """For a person who wants to see them."""
        self.requests: Counter[tuple[str, str, str, str, str]] = Counter()
        """By code, method, host, resource and verb."""
        self.latency: dict[tuple[str, str], Histogram] = defaultdict(
            partial(Histogram, LATENCY_BUCKETS_S)
        )
        """By verb and URL: seconds until the answer began."""
        self.waits: dict[tuple[str, str], Histogram] = defaultdict(
            partial(Histogram, WAIT_BUCKETS_S)
        )
        """By verb and URL: seconds that requests were held back because the server asked for it."""

    def answered(
        self,
        method: str,
        origin: str,
        path: str,
        resource: Resource[Any] | None,
        *,
        is_watch: bool = False,
        code: int | None,
        seconds: float,
    ) -> None:
        """`origin` is scheme, host and port; `code` is None if there was no answer."""
        verb, template = _verb_and_template(method, path, resource, is_watch=is_watch)
        name = resource.plural if resource else _UNKNOWN
        status = str(code) if code is not None else _NO_ANSWER
        host = origin.partition("://")[2]
        self.requests[status, method, host, name, verb if resource else _UNKNOWN] += 1
        self.latency[verb, origin + template].observe(seconds)
        if self.on_answer is not None:
            self.on_answer(method, origin + path, code, seconds)

    def held_back(
        self, method: str, origin: str, path: str, resource: Resource[Any] | None, seconds: float
    ) -> None:
        verb, template = _verb_and_template(method, path, resource)
        self.waits[verb, origin + template].observe(seconds)


def _verb_and_template(
    method: str, path: str, resource: Resource[Any] | None, *, is_watch: bool = False
) -> tuple[str, str]:
    if resource is None:
        # Discovery, health, versions: the first steps tell enough.
        return method, "/".join(path.split("/")[:4])
    steps = path.split("/")
    at = 4 if resource.group else 3  # after /apis/group/version or /api/version
    if resource.namespaced and len(steps) > at + 1 and steps[at] == "namespaces":
        steps[at + 1] = "%7Bnamespace%7D"  # braces, as Go writes them in a URL
        at += 2
    has_name = len(steps) > at + 1
    if has_name:
        steps[at + 1] = "%7Bname%7D"
    verb = _VERBS.get(method, method)
    if method == "GET" and not has_name:
        verb = "LIST"
    return "WATCH" if is_watch else verb, "/".join(steps)
