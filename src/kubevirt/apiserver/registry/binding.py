"""binding: a pod is given a node, once."""

from typing import Any

import msgspec

from kubevirt.api.meta import StatusDetails
from kubevirt.apiserver import refusals
from kubevirt.apiserver.refusals import Refusal, bad_request, refusal
from kubevirt.apiserver.registry import options, stored
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import Plain
from kubevirt.apiserver.storage.errors import Conflict

Object = dict[str, Any]
ATTEMPTS = 5


async def bind(registry: Registry, call: Call, body: Body) -> Plain:
    wanted = options.of_write(call)
    said = _binding(call, body)
    pod = msgspec.structs.replace(call, subresource="")
    for _ in range(ATTEMPTS):
        entry, old = await registry.read(pod)
        new = _bound(call, old, said, registry.now())
        if wanted.dry_run:
            return _done()
        try:
            await registry.store.update(entry, stored.encoded(new))
        except Conflict:
            continue
        return _done()
    raise refusals.modified(call.kind, call.name)


def _binding(call: Call, body: Body) -> Object:
    said = body.value
    if not isinstance(said, dict) or not isinstance(said.get("target"), dict):
        raise bad_request("the body of the request is no Binding")
    metadata = said.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("name") != call.name:
        raise bad_request("name in URL does not match name in Binding object")
    if not isinstance(said["target"].get("name"), str) or not said["target"]["name"]:
        raise bad_request("a Binding needs the name of a node: target.name")
    return said


def _bound(call: Call, pod: Object, said: Object, now: str) -> Object:
    metadata, spec = pod["metadata"], pod["spec"]
    uid = said["metadata"].get("uid")
    if uid and uid != metadata["uid"]:
        words = f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
        raise _refused(call, words + metadata["uid"])
    if metadata.get("deletionTimestamp"):
        raise _refused(call, f"pod {call.name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        node = spec["nodeName"]
        raise _refused(call, f'pod {call.name} is already assigned to node "{node}"')
    status = pod.get("status", {})
    others = [each for each in status.get("conditions") or [] if each["type"] != "PodScheduled"]
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
    }
    return {
        **pod,
        "spec": {**spec, "nodeName": said["target"]["name"]},
        "status": {**status, "conditions": [*others, scheduled]},
    }


def _refused(call: Call, words: str) -> Refusal:
    message = f'Operation cannot be fulfilled on pods/binding "{call.name}": {words}'
    details = StatusDetails(name=call.name, kind="pods/binding")
    return refusal(409, "Conflict", message, details=details)


def _done() -> Plain:
    success = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }
    return Plain(document=success, code=201)
