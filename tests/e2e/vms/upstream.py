"""KubeVirt's own examples, each applied by a user of the home: it runs, or somebody says why not.

    KUBEVIRT_UPSTREAM=FOLDER .venv/bin/pytest tests/e2e/vms/test_upstream_examples.py -s

Their files are not part of this repository. They are applied as they are; names of images lead to our guests, and the
claims that they name are made, empty.
"""

from dataclasses import dataclass
from typing import Any

from tests.e2e.examples.upstream import KINDS, Example
from tests.e2e.vms.objects import a_claim
from tests.e2e.vms.place import Place

RUNS = "runs"
TAKEN = "is taken"
"""No guest, but something that the server keeps and others use."""
REFUSED = "refused"
WAITS = "says what it misses"

CLAIMS = ("disk-alpine", "disk-custom", "disk-windows")
TAKEN_NAMES = ("preemtible", "non-preemtible")
"""Of the examples that are priority classes."""
GATED = "hostDisk"
"""Built, and behind a gate that is closed unless an administrator opens it."""
TEMPLATES = "dataVolumeTemplates"
OF_THE_MACHINE = {"EFI", "TPM"}
"""Built, for nodes on which the firmware and the program for it are installed."""
ALONE = "dedicatedCpuPlacement"
"""Wants processors for itself, which the home's node has for nobody: no node fits."""


@dataclass(frozen=True)
class Outcome:
    ending: str
    words: str = ""

    def __str__(self) -> str:
        return f"{self.ending}: {self.words}" if self.words else self.ending


def expected(example: Example) -> tuple[str, ...]:
    """Each of these is fine."""
    text = example.path.read_text()
    if example.name in TAKEN_NAMES:
        return (TAKEN,)
    if not example.is_a_guest or GATED in text or TEMPLATES in text:
        return (REFUSED,)
    if set(example.beyond) - OF_THE_MACHINE:
        return (REFUSED,)
    if example.beyond:
        return (RUNS, WAITS)
    return (WAITS,) if ALONE in text else (RUNS,)


async def outcome(place: Place, example: Example) -> Outcome:
    text = example.path.read_text()
    await place.create(*(a_claim(name) for name in CLAIMS if name in text))
    said = place.kubectl("apply", "-f", str(example.path))
    if said.code:
        words = " ".join(said.err.split())
        return Outcome(REFUSED, words.replace(f"{example.path.parent}/", ""))
    guests = [each for each in example.documents if each["kind"] in KINDS]
    if not guests:
        return Outcome(TAKEN)
    (guest,) = guests
    name = guest["metadata"]["name"]
    if guest["kind"] == "VirtualMachine":
        started = place.virtctl("start", name)
        assert started.code == 0, started.err
    wanted = expected(example)
    vmi = await place.until(
        name,
        lambda vmi: _runs(vmi) or (WAITS in wanted and bool(_trouble(vmi))),
        " or ".join(wanted),
        kind="VirtualMachineInstance",
    )
    return Outcome(RUNS) if _runs(vmi) else Outcome(WAITS, _trouble(vmi))


def _runs(vmi: dict[str, Any]) -> bool:
    return bool(vmi["status"].get("phase") == "Running")


def _trouble(vmi: dict[str, Any]) -> str:
    """What keeps it from being started, as its conditions have it."""
    return next(
        (
            str(each["message"])
            for each in vmi["status"].get("conditions", ())
            if each["type"] in {"Synchronized", "PodScheduled"} and each["status"] == "False"
        ),
        "",
    )
