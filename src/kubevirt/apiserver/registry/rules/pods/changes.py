"""What of a pod may change once it is there: very little, for a node may be running it."""

from typing import Any, Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import INT32, Errors
from kubevirt.apiserver.registry.rules.pods import containers, scheduling
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import gotext, names
from kubevirt.apiserver.schema.field_errors import (
    Verbatim,
    forbidden,
    invalid,
    required,
)
from kubevirt.apiserver.schema.plain import is_same

_MAY_CHANGE: Final = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
_DEADLINE: Final = "activeDeadlineSeconds"
_MIRROR: Final = "kubernetes.io/config.mirror"
_CONTAINERS: Final = ("containers", "initContainers")


def errors(new: Object, old: Object) -> Errors:
    yield from _annotations(new, old)
    after, before = new["spec"], old["spec"]
    for where in _CONTAINERS:
        now, then = after.get(where) or [], before.get(where) or []
        if len(now) != len(then):
            yield forbidden(f"spec.{where}", "pod updates may not add or remove containers")
            return
        for at, container in enumerate(now):
            if not container.get("image"):
                yield required(f"spec.{where}[{at}].image")
            yield from containers.unpadded(container, f"spec.{where}[{at}]")
    wrong = list(_deadline(after.get(_DEADLINE), before.get(_DEADLINE)))
    yield from wrong
    if wrong and after.get(_DEADLINE) is not None:
        return
    yield from _tolerations(after, before)
    yield from _gates(after, before)
    if not is_same(_without_changes(after, before), before):
        shown = _differences(_without_changes(after, before), before)
        words = f"pod updates may not change fields other than {','.join(_MAY_CHANGE)}\n{shown}"
        yield forbidden("spec", words)


def _annotations(new: Object, old: Object) -> Errors:
    field = f"metadata.annotations[{_MIRROR}]"
    after = (new["metadata"].get("annotations") or {}).get(_MIRROR)
    before = (old["metadata"].get("annotations") or {}).get(_MIRROR)
    if before is not None and after != before:
        yield forbidden(field, "may not remove or update mirror pod annotation")
    elif before is None and after is not None:
        yield forbidden(field, "may not add mirror pod annotation")


def _deadline(after: int | None, before: int | None) -> Errors:
    field = f"spec.{_DEADLINE}"
    if after is None:
        if before is not None:
            words = "must not update from a positive integer to nil value"
            yield invalid(field, Verbatim("null"), words)
    elif not 0 <= after <= INT32:
        yield invalid(field, after, checks.between(0, INT32))
    elif before is not None and before < after:
        yield invalid(field, after, "must be less than or equal to previous value")


def _tolerations(after: Object, before: Object) -> Errors:
    """None may go; of those that are there, only the seconds may change."""
    now = [_timeless(each) for each in after.get("tolerations") or []]
    if any(_timeless(each) not in now for each in before.get("tolerations") or []):
        words = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden("spec.tolerations", words)
        return
    yield from scheduling.tolerations(after.get("tolerations") or [], "spec.tolerations")


def _timeless(toleration: Object) -> Object:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _gates(after: Object, before: Object) -> Errors:
    known = {each.get("name") for each in before.get("schedulingGates") or []}
    for at, gate in enumerate(after.get("schedulingGates") or []):
        if gate.get("name") not in known:
            words = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            yield forbidden(f"spec.schedulingGates[{at}].name", words)


def _without_changes(after: Object, before: Object) -> Object:
    """The new specification with everything that may change put back."""
    put_back = dict(after)
    for where in _CONTAINERS:
        if where in after:
            pairs = zip(after[where], before[where], strict=True)
            put_back[where] = [{**now, "image": then.get("image", "")} for now, then in pairs]
    kept = [_DEADLINE, "schedulingGates", "tolerations"]
    if before.get("schedulingGates"):
        # Whoever holds a pod back may still say where it shall go.
        kept.append("nodeSelector")
    grace = "terminationGracePeriodSeconds"
    if (before.get(grace) or 0) < 0 and after.get(grace) == 1:
        kept.append(grace)
    for name in kept:
        put_back.pop(name, None)
        if name in before:
            put_back[name] = before[name]
    return put_back


def _differences(after: Any, before: Any, path: str = "") -> str:
    """The fields that must not change, a line each. Go prints its own structs here; nobody reads them."""
    if isinstance(after, dict) and isinstance(before, dict):
        parts = (
            _differences(after.get(name), before.get(name), f"{path}.{name}" if path else name)
            for name in sorted(after.keys() | before.keys())
            if not is_same(after.get(name), before.get(name))
        )
        return "".join(parts)
    if isinstance(after, list) and isinstance(before, list) and len(after) == len(before):
        parts = (
            _differences(now, then, f"{path}[{at}]")
            for at, (now, then) in enumerate(zip(after, before, strict=True))
            if not is_same(now, then)
        )
        return "".join(parts)
    return f"-{path}: {gotext.json(before)}\n+{path}: {gotext.json(after)}\n"


# Through other endpoints


def errors_of_ephemeral(new: Object, old: Object) -> Errors:
    path = "spec.ephemeralContainers"
    now = {each.get("name"): each for each in new["spec"].get("ephemeralContainers") or []}
    for then in old["spec"].get("ephemeralContainers") or []:
        name = then.get("name", "")
        found = now.get(name)
        if found is None:
            words = f"existing ephemeral containers {gotext.quoted(name)} may not be removed\n"
            yield forbidden(path, words)
        elif not is_same(found, then):
            shown = _differences(found, then)
            words = (
                f"existing ephemeral containers {gotext.quoted(name)} may not be changed\n{shown}"
            )
            yield forbidden(path, words)


_SYSTEMS_OWN: Final = ("PodScheduled", "Ready", "Initialized")


def errors_of_status(new: Object, old: Object) -> Errors:
    after, before = new.get("status") or {}, old.get("status") or {}
    for at, condition in enumerate(after.get("conditions") or []):
        kind = condition.get("type", "")
        if kind not in _SYSTEMS_OWN:
            yield from checks.named(f"status.conditions[{at}].Type", kind, names.qualified)
    nominated = after.get("nominatedNodeName")
    if nominated and nominated != before.get("nominatedNodeName"):
        yield from checks.named("status.nominatedNodeName", nominated, names.subdomain)
    if after.get("observedGeneration", 0) < 0:
        words = "must be a non-negative integer"
        yield invalid("status.observedGeneration", after["observedGeneration"], words)
    if after.get("qosClass", "") != before.get("qosClass", ""):
        yield invalid("status.qosClass", after.get("qosClass", ""), "field is immutable")
    for where in ("containerStatuses", "initContainerStatuses"):
        yield from _back_to_life(after, before, where, old["spec"])


def _back_to_life(after: Object, before: Object, where: str, spec: Object) -> Errors:
    """Sidecars come back whatever the pod's policy is."""
    policy = spec.get("restartPolicy")
    inits = spec.get("initContainers") or []
    sidecars = {each["name"] for each in inits if each.get("restartPolicy") == "Always"}
    if policy == "Always":
        return
    now = {each.get("name"): each for each in after.get(where) or []}
    for at, then in enumerate(before.get(where) or []):
        ended = (then.get("state") or {}).get("terminated")
        if ended is None or (ended.get("exitCode") and policy == "OnFailure"):
            continue
        if where == "initContainerStatuses" and then.get("name") in sidecars:
            continue
        found = now.get(then.get("name"))
        if found is not None and (found.get("state") or {}).get("terminated") is None:
            words = "may not be transitioned to non-terminated state"
            yield forbidden(f"status.{where}[{at}].state", words)
