"""The way out of what keeps a guest from starting, behind the words of whoever says what it is."""

from collections.abc import Sequence
from typing import Final

Hints = Sequence[tuple[str, str]]
"""What is said, and what helps."""

GOES_ON: Final = "and the start goes on by itself"

_NO_NODE: Final[Hints] = (
    ("Insufficient memory", "ask for less memory, or make room on a node"),
    ("Insufficient cpu", "ask for less of a CPU, or make room on a node"),
    (
        "node affinity/selector",
        "give a node the labels that the machine selects by, or change its nodeSelector or affinity",
    ),
    (
        "untolerated taint",
        "take the taint from the node, or let the machine tolerate it: spec.template.spec.tolerations",
    ),
    (
        "unbound immediate PersistentVolumeClaims",
        "`kubectl describe pvc` says what its claim waits for",
    ),
    ("were unschedulable", "`kubectl uncordon` the node"),
)
_PRIVILEGED: Final = "pod-security.kubernetes.io/enforce=privileged"
_NO_VOLUME: Final[Hints] = ((" not found", "create it"), (" is full", "make room there"))


def of_no_node(said: str) -> str:
    return _with_hint(said, _NO_NODE)


def of_no_volume(said: str) -> str:
    return _with_hint(said, _NO_VOLUME)


def of_no_image(said: str) -> str:
    return _joined(said, "make the image available under that name, or name another in the volume")


def of_no_privilege(said: str, namespace: str) -> str:
    return _joined(
        said,
        f"`kubectl label --overwrite namespace {namespace} {_PRIVILEGED}`, or leave out of the machine "
        f"what is named here",
    )


def _with_hint(said: str, hints: Hints) -> str:
    found = [hint for words, hint in hints if words in said]
    return _joined(said, "; ".join(found)) if found else said


def _joined(said: str, hint: str) -> str:
    return f"{said.rstrip('.')}; {hint}, {GOES_ON}"
