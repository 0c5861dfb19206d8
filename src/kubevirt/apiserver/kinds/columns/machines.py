"""Tables of nodes."""

from typing import Any, Final

from kubevirt.apiserver.kinds.columns.cells import NONE, Object, age_of, at

NODE_HEADER: Final = (
    "Name, Status, Roles, Age, Version, +Internal-IP, +External-IP, +OS-Image, +Kernel-Version, "
    "+Container-Runtime"
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
