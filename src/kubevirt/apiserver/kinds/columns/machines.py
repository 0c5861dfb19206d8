"""Tables of nodes and of the pods on them."""

from typing import Any, Final

from kubevirt.apiserver.kinds.columns.ages import age
from kubevirt.apiserver.kinds.columns.cells import NONE, Object, age_of, at

NODE_HEADER: Final = (
    "Name, Status, Roles, Age, Version, +Internal-IP, +External-IP, +OS-Image, +Kernel-Version, "
    "+Container-Runtime"
)
POD_HEADER: Final = (
    "Name, Ready, Status, Restarts, Age, +IP, +Node, +Nominated Node, +Readiness Gates"
)
_ROLE: Final = "node-role.kubernetes.io/"
_UNKNOWN: Final = "<unknown>"


def node(object_: Object, now: float) -> list[Any]:
    status = object_.get("status", {})
    info = status.get("nodeInfo", {})
    addresses = {each["type"]: each["address"] for each in status.get("addresses") or []}
    return [
        at(object_, "metadata", "name"),
        _node_status(object_),
        _roles(object_["metadata"].get("labels") or {}),
        age_of(object_, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", NONE),
        addresses.get("ExternalIP", NONE),
        info.get("osImage") or _UNKNOWN,
        info.get("kernelVersion") or _UNKNOWN,
        info.get("containerRuntimeVersion") or _UNKNOWN,
    ]


def _node_status(object_: Object) -> str:
    conditions = at(object_, "status", "conditions") or []
    ready = next((each for each in conditions if each.get("type") == "Ready"), None)
    word = "Unknown"
    if ready:
        word = "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{word},SchedulingDisabled" if at(object_, "spec", "unschedulable") else word


def _roles(labels: dict[str, str]) -> str:
    found = {name.removeprefix(_ROLE) for name in labels if name.startswith(_ROLE)}
    if role := labels.get("kubernetes.io/role"):
        found.add(role)
    return ",".join(sorted(found - {""})) or NONE


def pod(object_: Object, now: float) -> list[Any]:
    spec, status = object_.get("spec", {}), object_.get("status", {})
    containers = status.get("containerStatuses") or []
    ready = sum(1 for each in containers if each.get("ready") and at(each, "state", "running"))
    ips = status.get("podIPs") or []
    return [
        at(object_, "metadata", "name"),
        f"{ready}/{len(spec.get('containers') or [])}",
        _pod_status(object_),
        _restarts(containers, now),
        age_of(object_, now),
        (ips[0].get("ip") if ips else status.get("podIP")) or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(spec, status),
    ]


def _pod_status(object_: Object) -> str:
    """The word that says most: why a container waits or ended, rather than the phase."""
    status = object_.get("status", {})
    word = status.get("reason") or status.get("phase", "")
    waits = _initializing(object_)
    if waits:
        word = waits
    else:
        has_running = False
        for each in reversed(status.get("containerStatuses") or []):
            state = each.get("state") or {}
            waiting, ended = state.get("waiting") or {}, state.get("terminated")
            if waiting.get("reason"):
                word = waiting["reason"]
            elif ended is not None:
                word = ended.get("reason") or _ending(ended)
            elif each.get("ready") and state.get("running") is not None:
                has_running = True
        if word == "Completed" and has_running:
            word = "Running"
    if object_["metadata"].get("deletionTimestamp"):
        is_over = status.get("phase") in ("Succeeded", "Failed")
        return (
            "Unknown" if status.get("reason") == "NodeLost" else word if is_over else "Terminating"
        )
    return str(word)


def _ending(ended: Object) -> str:
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _initializing(object_: Object) -> str:
    """`Init:1/2`, or why the first init container that is not done does not go on."""
    statuses = at(object_, "status", "initContainerStatuses") or []
    total = len(at(object_, "spec", "initContainers") or [])
    for place, each in enumerate(statuses):
        state = each.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if ended is not None and not ended.get("exitCode"):
            continue
        if ended is not None:
            return f"Init:{ended.get('reason') or _ending(ended)}"
        if waiting.get("reason") not in (None, "", "PodInitializing"):
            return f"Init:{waiting['reason']}"
        return f"Init:{place}/{total}"
    return ""


def _restarts(containers: list[Object], now: float) -> str:
    count = sum(each.get("restartCount", 0) for each in containers)
    ends = [at(each, "lastState", "terminated", "finishedAt") for each in containers]
    last = max((each for each in ends if each), default="")
    return f"{count} ({age(last, now)} ago)" if count and last else str(count)


def _gates(spec: Object, status: Object) -> str:
    gates = spec.get("readinessGates") or []
    if not gates:
        return NONE
    true = {each["type"] for each in status.get("conditions") or [] if each["status"] == "True"}
    held = sum(1 for each in gates if each.get("conditionType") in true)
    return f"{held}/{len(gates)}"
