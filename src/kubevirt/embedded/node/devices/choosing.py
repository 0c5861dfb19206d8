"""Which devices a container gets: pure.

What a pod's init containers had can be used again by the containers that come after them, since an init
container has ended by then; one that goes on beside them (a sidecar) keeps its own.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.base.quantity import Quantity


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What may be chosen from."""

    count: int
    included: Sequence[str]
    """These first: the pod has them already."""
    available: Sequence[str]
    """All that may be given, with those."""


class TooFew(msgspec.Struct, frozen=True):
    why: str
    """In a kubelet's words."""


def wanted(container: Container, resources: Collection[str]) -> Mapping[str, int]:
    """How many of each of the resources."""
    limits = container.resources.limits if container.resources else {}
    counts = {
        name: Quantity.from_json(value).value()
        for name, value in limits.items()
        if name in resources
    }
    return {name: count for name, count in counts.items() if count > 0}


def choice(
    resource: str,
    count: int,
    healthy: Collection[str],
    held: Iterable[tuple[str, str, Sequence[str]]],
    pod: Pod,
    container: str,
) -> Choice | TooFew:
    """`held` is pod, container and devices of everybody who has some."""
    taken, reusable = set[str](), set[str]()
    passing = _passing(pod, container)
    for uid, name, ids in held:
        (reusable if uid == pod.metadata.uid and name in passing else taken).update(ids)
    if not healthy:
        return TooFew(f"no healthy devices present; cannot allocate unhealthy devices {resource}")
    included = sorted((reusable - taken) & set(healthy))[:count]
    available = sorted(set(healthy) - taken)
    if len(available) < count:
        return TooFew(
            f"requested number of devices unavailable for {resource}. Requested: {count},"
            f" Available: {len(available)}"
        )
    return Choice(count=count, included=included, available=available)


def chosen(choice: Choice, preferred: Sequence[str] = ()) -> tuple[str, ...]:
    """What the plugin prefers goes before the rest, as far as it may be had."""
    order = dict.fromkeys([*choice.included, *preferred, *choice.available])
    allowed = set(choice.available)
    return tuple([each for each in order if each in allowed][: choice.count])


def _passing(pod: Pod, container: str) -> set[str]:
    """Containers that have ended before this one starts."""
    if pod.spec is None:
        return set()
    found = set()
    for each in pod.spec.init_containers:
        if each.name == container:
            break
        if each.restart_policy != "Always":
            found.add(each.name)
    return found
