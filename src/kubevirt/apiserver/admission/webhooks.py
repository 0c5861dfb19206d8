"""Webhooks at work: who of them is asked about a write, and what comes of it.

Mutating ones are asked one after the other (`mutating.py`), validating ones all at once: each is waited
for, and the first no to arrive is the answer. Nobody is asked about the configurations of webhooks:
whoever has locked himself out can still mend them.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, Final

from kubevirt.apiserver import refusals
from kubevirt.apiserver.admission import calling
from kubevirt.apiserver.admission.calling import Caller, HookFailed
from kubevirt.apiserver.admission.hooks import Hook
from kubevirt.apiserver.admission.keeping import Configurations
from kubevirt.apiserver.admission.matching import Matching
from kubevirt.apiserver.admission.mutating import MutatingRounds
from kubevirt.apiserver.admission.request import Request, request_of
from kubevirt.apiserver.callees.callees import Callees
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry import stored
from kubevirt.apiserver.registry.admission import Review
from kubevirt.apiserver.registry.chance import Chance
from kubevirt.apiserver.storage.store import Store
from kubevirt.base.clock import Clock

Object = dict[str, Any]

_FAILED_OPEN: Final = "failed-open.validating.webhook.admission.k8s.io/"


class Webhooks:
    def __init__(
        self, store: Store, catalog: Catalog, callees: Callees, *, clock: Clock, chance: Chance
    ) -> None:
        self.configurations = Configurations(store, catalog)
        self._store = store
        self._catalog = catalog
        self._matching = Matching(self._labels_of_namespace)
        self._caller = Caller(callees, clock, chance)

    def rounds(self, review: Review) -> MutatingRounds | None:
        hooks = self.configurations.mutating
        if not hooks or _is_exempt(review):
            return None
        return MutatingRounds(hooks, self._matching, self._caller, review)

    async def validate(self, object_: Object | None, review: Review) -> None:
        hooks = self.configurations.validating
        if not hooks or _is_exempt(review):
            return
        request = request_of(review, object_)
        kind = review.call.kind
        relevant: list[tuple[Hook, str]] = []
        for hook in hooks:
            version = await self._matching.version(hook, request, object_, kind)
            if version is not None:
                relevant.append((hook, version))
        refused: list[Refusal] = []
        async with asyncio.TaskGroup() as tasks:
            for index, (hook, version) in enumerate(relevant):
                question = self._asked(hook, request, object_, version, review, index)
                tasks.create_task(_gathered(question, refused))
        if refused:
            raise refused[0]

    async def _asked(
        self,
        hook: Hook,
        request: Request,
        object_: Object | None,
        version: str,
        review: Review,
        index: int,
    ) -> None:
        try:
            answer = await self._caller.ask(hook, request, object_, version, is_mutating=False)
        except HookFailed as error:
            if self._caller.failed_open(hook, error, request):
                review.call.annotations[f"{_FAILED_OPEN}round_0_index_{index}"] = hook.name
                return
            raise calling.closed(error) from error
        calling.note(review.call, hook, answer)
        if not answer.is_allowed:
            raise calling.refused(hook, answer)

    async def _labels_of_namespace(self, name: str) -> Mapping[str, str]:
        kind = self._catalog.namespaces
        entry = await self._store.get(kind.key("", name))
        if entry is None:
            raise refusals.not_found(kind, name)
        return stored.object_of(entry, "v1")["metadata"].get("labels") or {}


def _is_exempt(review: Review) -> bool:
    kind = review.call.kind
    return kind.group == "admissionregistration.k8s.io" and not kind.is_custom


async def _gathered(question: Coroutine[Any, Any, None], refused: list[Refusal]) -> None:
    """Each is waited for, though one has said no: what they do with it is their own."""
    try:
        await question
    except Refusal as refusal:
        refused.append(refusal)
