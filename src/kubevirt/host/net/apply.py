"""A plan of `kubevirt.virt.network`, carried out in a network namespace.

    await apply(namespace, plans)           # what was changed, in words; nothing the second time
    await verify(namespace, plans)          # what differs, in words
    await undo(namespace, plans)            # what was changed on the way back

Whoever applies a plan that moves the pod's link must have written the plan down before: afterwards
the pod's addresses and routes stand nowhere else. With the same plan, applying and undoing can be
begun, interrupted and begun again in any order. The guest's DHCP server is a process and has an
owner: see `dnsmasq`.
"""

from collections.abc import Callable, Sequence

from kubevirt.host.net import links, nft
from kubevirt.host.net.errors import NetworkDiffers
from kubevirt.host.net.journal import Journal
from kubevirt.host.net.kernel import Kernel
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.network.plan import InterfacePlan
from kubevirt.virt.network.plan import undo as way_back

Plans = Sequence[InterfacePlan]


async def apply(
    namespace: Namespace, plans: Plans, journal: Journal | None = None
) -> tuple[str, ...]:
    """Makes it so, looks whether it is so, and tells what was to do."""
    return await namespace.run(_on(_apply, plans, journal))


async def verify(namespace: Namespace, plans: Plans) -> tuple[str, ...]:
    return await namespace.run(_on(_verify, plans, None))


async def undo(
    namespace: Namespace, plans: Plans, journal: Journal | None = None
) -> tuple[str, ...]:
    return await namespace.run(_on(_undo, plans, journal))


def _on(
    work: Callable[[Kernel, Plans], tuple[str, ...]], plans: Plans, journal: Journal | None
) -> Callable[[], tuple[str, ...]]:
    def inside() -> tuple[str, ...]:
        with Kernel(journal) as kernel:
            return work(kernel, plans)

    return inside


def _apply(kernel: Kernel, plans: Plans) -> tuple[str, ...]:
    for plan in plans:
        before = len(kernel.journal.changes)
        for link in plan.links:
            links.make(kernel, link)
        for each in plan.sysctls:
            if kernel.setting(each.key) != each.value:
                kernel.set_setting(each.key, each.value)
        # Asking costs as much as loading: where the links were new, so are the rules.
        is_new = len(kernel.journal.changes) > before
        if plan.ruleset is not None and (is_new or nft.differences(plan.ruleset)):
            kernel.journal.note(f"load the nftables rules of interface {plan.interface}")
            nft.apply(plan.ruleset)
    changes = tuple(kernel.journal.changes)
    if changes and (differing := _verify(kernel, plans)):
        raise NetworkDiffers(differing)
    return changes


def _verify(kernel: Kernel, plans: Plans) -> tuple[str, ...]:
    return tuple(difference for plan in plans for difference in _differences(kernel, plan))


def _differences(kernel: Kernel, plan: InterfacePlan) -> list[str]:
    found = [words for link in plan.links for words in links.differences(kernel, link)]
    found += [
        f"the setting {each.key} is {value or 'missing'}, not {each.value}"
        for each in plan.sysctls
        if (value := kernel.setting(each.key)) != each.value
    ]
    if plan.ruleset is not None:
        found += nft.differences(plan.ruleset)
    return found


def _undo(kernel: Kernel, plans: Plans) -> tuple[str, ...]:
    for plan in reversed(plans):
        back = way_back(plan)
        if back.ruleset is not None and nft.leftovers(back.ruleset):
            kernel.journal.note(f"unload the nftables rules of interface {plan.interface}")
            nft.apply(back.ruleset)
        kinds = links.kinds_of(plan.links)
        moved_aside = back.moved is not None and kernel.find(back.moved.name) is not None
        for name in back.deleted:
            is_pods_own = back.moved is not None and name == back.moved.original and not moved_aside
            if not is_pods_own:
                links.delete(kernel, name, kinds[name])
        if back.moved is not None and back.restores is not None:
            links.move_back(kernel, back.moved, back.restores)
    return tuple(kernel.journal.changes)
