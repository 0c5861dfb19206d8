"""Budgets of disruption: their status says at any time how many of their pods may go.

Of pods in namespaces that have a budget only the labels are kept, so that a change of a pod leads to its
budgets at once; the pods of a budget are read when it is counted.
"""

from typing import Any, Final

from kubevirt.apiserver.collector import budgets
from kubevirt.apiserver.collector.controllers import Controller
from kubevirt.apiserver.collector.journal import Journal
from kubevirt.apiserver.collector.makers import Makers, NoScale, Wanted
from kubevirt.apiserver.collector.queue import Queue
from kubevirt.apiserver.collector.telling import Telling
from kubevirt.apiserver.collector.traits import Place
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.stored import object_of
from kubevirt.apiserver.schema.label_selectors import Selects, compile_selector
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.apiserver.storage.records import Entry, Event

Object = dict[str, Any]
Labels = dict[str, str]
News = tuple[str, str, str]
"""Type, reason and message of an event."""

WORKERS: Final = 2
_UNMANAGED: Final = (
    "Pods selected by this PodDisruptionBudget (selector: {selector}) were found to be unmanaged. As a "
    "result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. "
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
)


class Disruptions:
    def __init__(self, registry: Registry, journal: Journal) -> None:
        self._registry = registry
        self._budgets = registry.catalog.kind("policy", "poddisruptionbudgets")
        self._pods = registry.catalog.kind("", "pods")
        self._controller = Controller(registry, journal, "disruption-controller")
        self._makers = Makers(registry)
        self._telling = Telling(registry, self._controller, "controllermanager")
        self._queue = Queue(registry.clock, "counting of disruptions")
        self._selectors: dict[str, dict[str, Selects]] = {}
        """By namespace and key of a budget."""
        self._labels: dict[str, dict[str, Labels]] = {}
        """By namespace and key of a pod, for namespaces that have a budget."""

    async def load(self, at: int) -> None:
        self._selectors.clear()
        self._labels.clear()
        async for chunk in self._registry.store.scan(self._budgets.prefix, at=at):
            for entry in chunk:
                self._learn_budget(entry)
                self._queue.add(entry.key)
        for namespace in self._selectors:
            await self._learn_pods(namespace, at)

    async def _learn_pods(self, namespace: str, at: int | None = None) -> None:
        known = self._labels.setdefault(namespace, {})
        async for chunk in self._registry.store.scan(f"{self._pods.prefix}{namespace}/", at=at):
            for entry in chunk:
                known.setdefault(entry.key, _labels(entry))

    def observe(self, event: Event) -> None:
        if event.key.startswith(self._budgets.prefix):
            if event.entry:
                self._learn_budget(event.entry)
            else:
                self._forget_budget(event.key)
            self._queue.add(event.key)
        elif event.key.startswith(self._pods.prefix) and self._selectors:
            self._observe_pod(event)

    def _observe_pod(self, event: Event) -> None:
        namespace = Place.of(event.key).namespace
        if not (selectors := self._selectors.get(namespace)):
            return
        known = self._labels.get(namespace)
        if known is None:  # whoever counts first will learn of them
            for key in selectors:
                self._queue.add(key)
            return
        before = known.pop(event.key, None)
        after = None
        if event.entry:
            after = known[event.key] = _labels(event.entry)
        for key, selects in selectors.items():
            if any(labels is not None and selects(labels) for labels in (before, after)):
                self._queue.add(key)

    def _learn_budget(self, entry: Entry) -> None:
        selector = object_of(entry, "policy/v1").get("spec", {}).get("selector")
        selects = _nobody if selector is None else compile_selector(selector) or _everybody
        self._selectors.setdefault(Place.of(entry.key).namespace, {})[entry.key] = selects

    def _forget_budget(self, key: str) -> None:
        namespace = Place.of(key).namespace
        others = self._selectors.get(namespace, {})
        others.pop(key, None)
        if not others:
            self._selectors.pop(namespace, None)
            self._labels.pop(namespace, None)

    async def run(self) -> None:
        await self._queue.run(self._count, WORKERS)

    async def _count(self, key: str) -> bool:
        entry = await self._registry.store.get(key)
        if entry is None:
            return True
        budget = object_of(entry, "policy/v1")
        if budget["metadata"].get("deletionTimestamp"):
            return True
        pods = await self._pods_of(key)
        now = self._registry.clock.now()
        news: list[News] = [] if pods else [("Normal", "NoPods", "No matching pods found")]
        try:
            wanted = await self._wanted(budget, pods)
        except NoScale as error:
            status = budgets.failed(budget, str(error), now)
            words = f"Failed to calculate the number of expected pods: {error}"
            news.append(("Warning", "CalculateExpectedPodCountFailed", words))
        else:
            status, again_s = budgets.status(budget, pods, wanted.count, now)
            if again_s is not None:
                self._queue.add_after(key, again_s)
            if wanted.unmade:
                words = _UNMANAGED.format(selector=budgets.selector(budget["spec"]))
                news.append(("Warning", "UnmanagedPods", words))
        if not is_same(status, budget.get("status")):
            # Whoever evicts counts down meanwhile; then this is refused, and counted once more.
            await self._controller.replace(self._budgets, {**budget, "status": status}, "status")
            for each in news:
                await self._telling.tell(self._budgets, budget["metadata"], *each)
        return True

    async def _wanted(self, budget: Object, pods: list[Object]) -> Wanted:
        needs_scale = budgets.needs_scale(budget["spec"])
        return await self._makers.wanted(pods) if needs_scale else Wanted()

    async def _pods_of(self, key: str) -> list[Object]:
        namespace = Place.of(key).namespace
        if namespace not in self._labels:
            await self._learn_pods(namespace)
        selects = self._selectors.get(namespace, {}).get(key, _nobody)
        found = []
        for pod, labels in list(self._labels.get(namespace, {}).items()):
            if selects(labels) and (entry := await self._registry.store.get(pod)):
                found.append(object_of(entry, "v1"))
        return found


def _labels(entry: Entry) -> Labels:
    return object_of(entry, "v1")["metadata"].get("labels") or {}


def _nobody(labels: object) -> bool:  # noqa: ARG001
    return False


def _everybody(labels: object) -> bool:  # noqa: ARG001
    return True
