"""How a home is, for the eye and for programs."""

from collections.abc import Iterator
from typing import Final

import msgspec

from kubevirt.embedded.process.condition import Condition, State

_WIDTH: Final = 12


def as_json(condition: Condition) -> str:
    return msgspec.json.format(msgspec.json.encode(condition), indent=2).decode()


def as_text(condition: Condition) -> str:
    rows = list(_rows(condition))
    width = max(_WIDTH, *(len(name) + 2 for name, _ in rows))
    return "\n".join(f"{name:<{width}}{value}" for name, value in rows)


def _rows(condition: Condition) -> Iterator[tuple[str, str]]:
    yield "home", condition.home
    yield "state", _state(condition)
    if condition.process and condition.state in (State.UP, State.SILENT):
        yield "API server", condition.process.url
        memory = _mebibytes(condition.memory_bytes)
        yield "process", f"{condition.process.pid}, {memory}, since {condition.process.started}"
    for node in condition.nodes:
        how = "ready" if node.is_ready else "not ready"
        yield node.name, f"{how}: {node.message}" if node.message else how
    if kubevirt := condition.kubevirt:
        yield "KubeVirt", "ready" if kubevirt.is_available else f"not ready: {kubevirt.message}"
    for program in condition.programs:
        yield program.name, f"process {program.pid}, {_mebibytes(program.memory_bytes)}"
    if condition.state is State.UP and condition.trouble:
        yield "nodes, pods", condition.trouble
    elif condition.state is State.UP:
        counts = (f"{count} {phase}" for phase, count in condition.pods.items())
        yield "pods", ", ".join(counts) or "none"
        yield "kubeconfig", condition.kubeconfig
    if condition.log:
        yield "log", condition.log


def _mebibytes(number: int) -> str:
    return f"{number / (1 << 20):.0f} MiB"


def _state(condition: Condition) -> str:
    match condition.state:
        case State.ABSENT:
            return "there is no embedded home; bring one up with: virtctl up"
        case State.DOWN:
            return "down; bring it up with: virtctl up"
        case State.DIED if condition.process and not condition.process.is_of_this_boot:
            return "the machine was restarted since it was up; bring it up again with: virtctl up"
        case State.DIED:
            return "its process died; bring it up again with: virtctl up, or clear it away with: virtctl down"
        case State.SILENT:
            return f"its process runs and does not answer: {condition.trouble}"
    return str(condition.state.value)
