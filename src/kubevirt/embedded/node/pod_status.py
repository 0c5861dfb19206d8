"""How what was decided of a pod gets into its object, and what others wrote there into what is decided from.

A kubelet's way: a strategic merge patch of what has changed, so that conditions of others stay; seconds
without fractions, since no more is stored.
"""

from datetime import datetime
from typing import Any, Final

import msgspec

from kubevirt.api.core.pod import Pod, PodStatus
from kubevirt.embedded.node.conditions import OURS

Data = dict[str, Any]

_LISTS_BY_KEY: Final = {"podIPs": "ip", "hostIPs": "ip"}


def data(status: PodStatus) -> Data:
    """As it is stored."""
    plain = msgspec.to_builtins(status, builtin_types=(datetime,))
    found: Data = _in_seconds(plain)
    return found


def _in_seconds(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, dict):
        plain = {key: _in_seconds(each) for key, each in value.items()}
        return {key: each for key, each in plain.items() if each != {}}  # an empty state is none
    if isinstance(value, list | tuple):
        return [_in_seconds(each) for each in value]
    return value


def difference(before: Data, after: Data) -> Data:
    """A strategic merge patch; empty if there is none."""
    found: Data = {}
    for name in before.keys() | after.keys():
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if name == "conditions":
            found[name] = _changed_conditions(old or [], new or [])
        elif name in _LISTS_BY_KEY and new is not None:
            found[name] = [*new, {"$patch": "replace"}]
        else:
            found[name] = new
    if not found.get("conditions", True):
        del found["conditions"]  # no more than their order
    return found


def _changed_conditions(old: list[Data], new: list[Data]) -> list[Data]:
    """A condition that lost its reason says so: a merge would keep it."""
    before = {each["type"]: each for each in old}
    changed = [each for each in new if before.get(each["type"]) != each]
    return [dict.fromkeys(before.get(each["type"], {})) | each for each in changed]


def merged(server: Pod, decided: PodStatus) -> Pod:
    """What to decide from: the pod as the server has it, with our own last word about its status."""
    mine = {each.type: each for each in decided.conditions if each.type in OURS}
    theirs = {each.type: each for each in server.status.conditions}
    status = msgspec.structs.replace(
        decided,
        conditions=tuple((theirs | mine).values()),
        qos_class=server.status.qos_class,
        nominated_node_name=server.status.nominated_node_name,
        resize=server.status.resize,
        ephemeral_container_statuses=server.status.ephemeral_container_statuses,
    )
    return msgspec.structs.replace(server, status=status)


def is_urgent(before: PodStatus, after: PodStatus) -> bool:
    """Whether somebody waits for it: what a pod does on its way to its start may be told together."""
    return _mark(before) != _mark(after)


def _mark(status: PodStatus) -> object:
    ready = {each.type: each.status for each in status.conditions if each.type == "Ready"}
    inits, containers = status.init_container_statuses, status.container_statuses
    ended = [each.name for each in containers if each.state and each.state.terminated]
    failed = [
        each.name
        for each in inits
        if each.state and each.state.terminated and each.state.terminated.exit_code
    ]
    waiting = [
        (each.state.waiting.reason, each.state.waiting.message)
        for each in (*inits, *containers)
        if each.state and each.state.waiting
    ]
    is_ready = ready.get("Ready") == "True"
    return status.phase, is_ready, status.reason, ended, failed, _troubles(waiting)


def _troubles(waiting: list[tuple[str | None, str | None]]) -> list[tuple[str | None, str | None]]:
    return [each for each in waiting if each[0] not in ("ContainerCreating", "PodInitializing")]
