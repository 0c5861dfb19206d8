"""The process of a home, if one should run, and what nobody can have here."""

from collections.abc import Iterator

from kubevirt.embedded.doctor.finding import Finding, note, ok, warning
from kubevirt.embedded.process.condition import Condition, State


def process(condition: Condition) -> Iterator[Finding]:
    name, found = "process", condition.process
    match condition.state:
        case State.ABSENT | State.DOWN:
            yield note(name, "the home is not up")
        case State.STARTING:
            yield note(name, "the home is about to be up")
        case State.STOPPING:
            yield note(name, "the home is going down")
        case State.UP:
            pid = found.pid if found else 0
            yield ok(name, f"{pid}, {condition.memory_bytes / (1 << 20):.0f} MiB")
        case State.SILENT:
            yield warning(name, condition.trouble, f"look into {condition.log}")
        case State.DIED:
            yield warning(
                name,
                "it died, and what it started may still run",
                "bring it up again with: virtctl up, or clear it away with: virtctl down",
            )
    for node in condition.nodes:
        if node.is_well:
            yield ok(node.name, "is ready")
        else:
            how = "is ready, but" if node.is_ready else "is not ready:"
            yield warning(node.name, f"{how} {node.message}", f"look into {condition.log}")


def limits() -> Iterator[Finding]:
    yield note(
        "port-forward",
        "kubectl port-forward speaks SPDY, which this home does not; reach a pod by its Service or its "
        "address from this machine",
    )
