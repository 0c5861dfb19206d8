"""Tables of pods: the word that says most about each, rather than its phase."""

from typing import Any, Final

import msgspec

from kubevirt.apiserver.kinds.columns.ages import age
from kubevirt.apiserver.kinds.columns.cells import NONE, Object, age_of, at

HEADER: Final = "Name, Ready, Status, Restarts, Age, +IP, +Node, +Nominated Node, +Readiness Gates"
_OVER: Final = ("Succeeded", "Failed")
_GATED: Final = "SchedulingGated"


class _Summary(msgspec.Struct):
    """What is gathered from the states of containers."""

    word: str
    ready: int = 0
    restarts: int = 0
    last_restart: str = ""

    def count(self, container: Object) -> None:
        self.restarts += container.get("restartCount", 0)
        ended = str(at(container, "lastState", "terminated", "finishedAt"))
        self.last_restart = max(self.last_restart, ended)

    def restarts_shown(self, now: float) -> str:
        if not self.restarts or not self.last_restart:
            return str(self.restarts)
        return f"{self.restarts} ({age(self.last_restart, now)} ago)"


def row(object_: Object, now: float) -> list[Any]:
    spec, status = object_.get("spec") or {}, object_.get("status") or {}
    found = _summary(object_)
    sidecars = _sidecars(spec)
    ips = status.get("podIPs") or []
    return [
        at(object_, "metadata", "name"),
        f"{found.ready}/{len(spec.get('containers') or []) + len(sidecars)}",
        _ending(object_, found.word),
        found.restarts_shown(now),
        age_of(object_, now),
        (ips[0].get("ip") if ips else "") or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(spec, status),
    ]


def _sidecars(spec: Object) -> set[str]:
    containers = spec.get("initContainers") or []
    return {each["name"] for each in containers if each.get("restartPolicy") == "Always"}


def _summary(object_: Object) -> _Summary:
    spec, status = object_.get("spec") or {}, object_.get("status") or {}
    word = status.get("reason") or status.get("phase", "")
    conditions = status.get("conditions") or []
    if any(each.get("reason") == _GATED for each in conditions if each["type"] == "PodScheduled"):
        word = _GATED
    before = _Summary(word)
    beside = _Summary(word)
    is_initializing = _initialize(object_, before, beside, _sidecars(spec))
    if is_initializing and not _is_true(conditions, "Initialized"):
        before.ready = beside.ready
        return before
    beside.word = before.word
    _run(status, beside, is_ready=_is_true(conditions, "Ready"))
    return beside


def _initialize(object_: Object, before: _Summary, beside: _Summary, sidecars: set[str]) -> bool:
    """Looks at init containers up to the first that is not done; whether there is one."""
    total = len(at(object_, "spec", "initContainers") or [])
    for place, container in enumerate(at(object_, "status", "initContainerStatuses") or []):
        before.count(container)
        is_sidecar = container["name"] in sidecars
        if is_sidecar:
            beside.count(container)
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), at(state, "waiting", "reason")
        if ended is not None and not ended.get("exitCode"):
            continue
        if is_sidecar and container.get("started"):
            beside.ready += bool(container.get("ready"))
            continue
        if ended is not None:
            before.word = f"Init:{_why(ended)}"
        elif waiting and waiting != "PodInitializing":
            before.word = f"Init:{waiting}"
        else:
            before.word = f"Init:{place}/{total}"
        return True
    return False


def _run(status: Object, found: _Summary, *, is_ready: bool) -> None:
    has_running = False
    for container in reversed(status.get("containerStatuses") or []):
        found.count(container)
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), at(state, "waiting", "reason")
        if waiting:
            found.word = waiting
        elif ended is not None:
            found.word = _why(ended)
        elif container.get("ready") and state.get("running") is not None:
            has_running = True
            found.ready += 1
    if found.word == "Completed" and has_running:
        found.word = "Running" if is_ready else "NotReady"


def _why(ended: Object) -> str:
    if reason := ended.get("reason"):
        return str(reason)
    if signal := ended.get("signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _ending(object_: Object, word: str) -> str:
    """Of a pod that is to go, that it does."""
    if not object_["metadata"].get("deletionTimestamp"):
        return word
    if at(object_, "status", "reason") == "NodeLost":
        return "Unknown"
    return word if at(object_, "status", "phase") in _OVER else "Terminating"


def _is_true(conditions: list[Object], kind: str) -> bool:
    return any(each["type"] == kind and each.get("status") == "True" for each in conditions)


def _gates(spec: Object, status: Object) -> str:
    gates = spec.get("readinessGates") or []
    if not gates:
        return NONE
    conditions = status.get("conditions") or []
    held = sum(1 for each in gates if _is_true(conditions, each.get("conditionType", "")))
    return f"{held}/{len(gates)}"
