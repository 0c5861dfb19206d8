"""binding: a pod is given a node, once.

A scheduler posts a Binding below the pod, or, as it did before there were endpoints below pods, to
`bindings` of the namespace.
"""

from typing import Any, Final

import msgspec

from kubevirt.api.meta import StatusDetails
from kubevirt.apiserver import refusals
from kubevirt.apiserver.refusals import Refusal, bad_request, refusal
from kubevirt.apiserver.registry import incoming, options, stored
from kubevirt.apiserver.registry.answering import admitted
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.changing import other_uid
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.pod_conditions import with_condition
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import Plain
from kubevirt.apiserver.schema.field_errors import FieldError, aggregate, not_supported, required
from kubevirt.apiserver.storage.errors import Conflict

Object = dict[str, Any]

ATTEMPTS: Final = 5
_IDENTITY: Final = ("uid", "resourceVersion")
_SCHEDULED: Final[Object] = {"type": "PodScheduled", "status": "True"}
DONE: Final = Plain(
    document={
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    },
    code=201,
)


async def bind(registry: Registry, call: Call, body: Body) -> Plain:
    wanted = options.of_write(call)
    said = await admitted(registry, call, _binding(call, body))
    if not said["metadata"].get("name"):
        raise bad_request("Name parameter required.")
    pods = registry.catalog.kind("", "pods")
    pod = msgspec.structs.replace(
        call, kind=pods, version=pods.storage_version, name=said["metadata"]["name"], subresource=""
    )
    for _ in range(ATTEMPTS):
        entry, old = await registry.read(pod)
        new = _bound(pod, old, said, registry.now())
        if wanted.dry_run:
            return DONE
        try:
            await registry.store.update(entry, stored.encoded(new))
        except Conflict:
            continue
        return DONE
    raise refusals.modified(pods, pod.name)


def _binding(call: Call, body: Body) -> Object:
    said = incoming.read_below(body, "v1", "Binding")
    if call.name and said["metadata"].get("name") != call.name:
        raise bad_request("name in URL does not match name in Binding object")
    if wrong := list(_wrong(said.get("target") or {})):
        # A list of errors without a name for itself: Kubernetes has no better answer either.
        raise refusal(500, "", aggregate(wrong))
    if not call.name:
        # What is made, not done to something, has no identity yet.
        metadata = {k: v for k, v in said["metadata"].items() if k not in _IDENTITY}
        said = {**said, "metadata": metadata}
    return incoming.stand_in_namespace(call, said)


def _wrong(target: Object) -> list[FieldError]:
    found = []
    if target.get("kind") not in (None, "", "Node"):
        found.append(not_supported("target.kind", target["kind"], ["Node", "<empty>"]))
    if not target.get("name"):
        found.append(required("target.name"))
    return found


def _bound(call: Call, pod: Object, said: Object, now: str) -> Object:
    metadata, spec = pod["metadata"], pod["spec"]
    uid = said["metadata"].get("uid")
    if uid and uid != metadata["uid"]:
        raise other_uid(call, uid, metadata["uid"])
    if metadata.get("deletionTimestamp"):
        raise _refused(call, f"pod {call.name} is being deleted, cannot be assigned to a host")
    if node := spec.get("nodeName"):
        raise _refused(call, f'pod {call.name} is already assigned to node "{node}"')
    if spec.get("schedulingGates"):
        raise _refused(call, f"pod {call.name} has non-empty .spec.schedulingGates")
    bound = {
        **pod,
        "metadata": _marked(metadata, said["metadata"]),
        "spec": {**spec, "nodeName": said["target"]["name"]},
    }
    return with_condition(bound, _SCHEDULED, now)


def _marked(metadata: Object, said: Object) -> Object:
    """With what the scheduler wants to be known."""
    made = dict(metadata)
    for name in ("annotations", "labels"):
        if more := said.get(name):
            made[name] = {**(metadata.get(name) or {}), **more}
    return made


def _refused(call: Call, words: str) -> Refusal:
    message = f'Operation cannot be fulfilled on pods/binding "{call.name}": {words}'
    details = StatusDetails(name=call.name, kind="pods/binding")
    return refusal(409, "Conflict", message, details=details)
