"""eviction: a pod is asked to go, unless a budget says that too many of its kind would be missing.

The budget is counted down before the pod goes, so that two who evict at the same time cannot both take
the last one. Who counts it up again is the disruption controller.
"""

from typing import Any, Final

import msgspec

from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.apiserver import refusals
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import Refusal, bad_request, refusal
from kubevirt.apiserver.registry import deleting, incoming, options, stored
from kubevirt.apiserver.registry.answering import admitted
from kubevirt.apiserver.registry.binding import DONE
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.options import DeleteOptions
from kubevirt.apiserver.registry.pod_conditions import with_condition
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import Plain
from kubevirt.apiserver.schema.label_selectors import compile_selector
from kubevirt.apiserver.storage.errors import Conflict
from kubevirt.apiserver.storage.records import Entry

Object = dict[str, Any]

ATTEMPTS: Final = 20
_MOST_DISRUPTED: Final = 2000
_VIOLATES: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_EVICTED: Final[Object] = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}
_OVER: Final = ("Succeeded", "Failed")


async def evict(registry: Registry, call: Call, body: Body) -> Plain:
    said = _eviction(call, body)
    wanted = _delete_options(call, said)
    await admitted(registry, call, said)
    pod_call = msgspec.structs.replace(call, subresource="", verb="delete")
    _, pod = await registry.read(pod_call)
    if not _needs_no_budget(pod):
        budgets = await _budgets(registry, pod)
        if len(budgets) > 1:
            raise refusal(
                500,
                "",
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
                "not support.",
            )
        if budgets and not _is_beyond_budget(pod, stored.object_of(budgets[0], "policy/v1")):
            await _take_one(registry, pod, budgets[0], is_dry=wanted.dry_run)
    await _let_go(registry, pod_call, wanted, said.get("deleteOptions"))
    return DONE


def _eviction(call: Call, body: Body) -> Object:
    said = incoming.read_below(body, "policy/v1", "Eviction")
    if said["metadata"].get("name") != call.name:
        raise bad_request("name in URL does not match name in Eviction object")
    return incoming.stand_in_namespace(call, said)


def _delete_options(call: Call, said: Object) -> DeleteOptions:
    """Those of the body; a dry run may be asked for on either side."""
    asked = said.get("deleteOptions") or None
    own = options.of_delete(msgspec.structs.replace(call, query={}), asked)
    return msgspec.structs.replace(own, dry_run=own.dry_run or options.of_write(call).dry_run)


# The budget


def _needs_no_budget(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in (*_OVER, "Pending") or bool(pod["metadata"].get("deletionTimestamp"))


async def _budgets(registry: Registry, pod: Object) -> list[Entry]:
    kind = _kind(registry)
    labels = pod["metadata"].get("labels") or {}
    found = []
    async for chunk in registry.store.scan(f"{kind.prefix}{pod['metadata']['namespace']}/"):
        for entry in chunk:
            selector = stored.object_of(entry, "policy/v1").get("spec", {}).get("selector")
            if selector is None:
                continue
            selects = compile_selector(selector)
            if selects is None or selects(labels):
                found.append(entry)
    return found


def _kind(registry: Registry) -> Kind:
    return registry.catalog.kind("policy", "poddisruptionbudgets")


def _is_beyond_budget(pod: Object, budget: Object) -> bool:
    """A pod that is not ready is of no use to anybody who counts ready ones."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    if any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
        return False
    if budget.get("spec", {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    needed: int = status.get("desiredHealthy", 0)
    healthy: int = status.get("currentHealthy", 0)
    return healthy >= needed > 0


async def _take_one(registry: Registry, pod: Object, entry: Entry, *, is_dry: bool) -> None:
    for _ in range(ATTEMPTS):
        budget = stored.object_of(entry, "policy/v1")
        new = _counted_down(_kind(registry), budget, pod["metadata"]["name"], registry.now())
        if is_dry:
            return
        try:
            await registry.store.update(entry, stored.encoded(new))
        except Conflict as conflict:
            if conflict.current is None:
                return  # without a budget anybody may go
            entry = conflict.current
        else:
            return
    name = stored.object_of(entry, "policy/v1")["metadata"]["name"]
    words = f'couldn\'t update PodDisruptionBudget "{name}" due to conflicts'
    details = StatusDetails(retry_after_seconds=10)
    raise refusal(504, "Timeout", f"Timeout: {words}", details=details)


def _counted_down(kind: Kind, budget: Object, pod: str, now: str) -> Object:
    status, name = budget.get("status") or {}, budget["metadata"]["name"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        words = f"The disruption budget {name} is still being processed by the server."
        raise _too_many(words, retry_after_s=10)
    allowed = status.get("disruptionsAllowed", 0)
    disrupted = status.get("disruptedPods") or {}
    if allowed < 0:
        raise refusals.forbidden(kind, name, "pdb disruptions allowed is negative")
    if len(disrupted) > _MOST_DISRUPTED:
        words = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise refusals.forbidden(kind, name, words)
    if allowed == 0:
        needed, has = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        words = f"The disruption budget {name} needs {needed} healthy pods and has {has} currently"
        raise _too_many(words)
    status = {
        **status,
        "disruptionsAllowed": allowed - 1,
        "disruptedPods": {**disrupted, pod: now},
    }
    return {**budget, "status": status}


def _too_many(words: str, retry_after_s: int = 0) -> Refusal:
    cause = StatusCause(reason="DisruptionBudget", message=words)
    details = StatusDetails(causes=(cause,), retry_after_seconds=retry_after_s)
    return refusal(429, "TooManyRequests", _VIOLATES, details=details)


# The pod


async def _let_go(
    registry: Registry, call: Call, wanted: DeleteOptions, said: Object | None
) -> None:
    """Marked as disrupted, for whoever asks later why it went; then deleted like any other."""
    if not wanted.dry_run:
        wanted = await _mark(registry, call, wanted)
    body = dict(said or {})
    if wanted.resource_version:
        conditions = {
            **(body.get("preconditions") or {}),
            "resourceVersion": wanted.resource_version,
        }
        body["preconditions"] = conditions
    if wanted.dry_run:
        body["dryRun"] = ["All"]
    plain = msgspec.structs.replace(call, query={})
    await deleting.delete(registry, plain, body or None, is_admitted=False)


async def _mark(registry: Registry, call: Call, wanted: DeleteOptions) -> DeleteOptions:
    for _ in range(ATTEMPTS):
        entry, pod = await registry.read(call)
        deleting.check_identity(call, pod, wanted)
        try:
            marked = with_condition(pod, _EVICTED, registry.now())
            made = await registry.store.update(entry, stored.encoded(marked))
        except Conflict:
            continue
        if wanted.resource_version:
            return msgspec.structs.replace(wanted, resource_version=str(made.revision))
        return wanted
    raise refusals.modified(call.kind, call.name)
