"""What a new volume may be a copy of, and how that is refused."""

from typing import Any

import pytest
from tests.unit.embedded.storage.objects import (
    GOING,
    OURS,
    a_claim,
    a_class,
    a_volume,
    owner,
    seen,
)

from kubevirt.embedded.storage import steps
from kubevirt.embedded.storage.decide import COPYING_PROTECTION, for_claim
from kubevirt.kube.key import Key

OLD, NEW = Key("home", "old"), Key("home", "new")
SOURCE = {"kind": "PersistentVolumeClaim", "name": "old"}
BINDING: dict[str, Any] = {"volumeName": "one", "status": {"phase": "Bound"}}
SOUND: dict[str, Any] = {"metadata": OURS, "claimRef": owner("old"), "status": {"phase": "Bound"}}
TOO_SMALL = (
    "error, new PVC request must be greater than or equal in size to the specified PVC data source, "
    "requested 1024 but source is 2048"
)
OTHER_MODE = (
    "the source PVC and destination PVCs must have the same volume mode for cloning.  "
    "Source is Block, but new PVC requested Filesystem"
)
UNBOUND = "claim in dataSource not bound or invalid"
NO_CLAIM = (
    "a volume cannot be made from a VolumeSnapshot here; name a PersistentVolumeClaim, or start from an empty"
    " volume"
)
HELD_STILL = {"finalizers": [COPYING_PROTECTION]}


def a_copy(**spec: Any) -> Any:
    return a_claim("new", **{"dataSource": SOURCE, **spec})


def why(found: list[Any]) -> str:
    """What is told, without the class and the source that each begins with."""
    [told] = [each for each in found if isinstance(each, steps.Tell)]
    assert told.reason == "ProvisioningFailed"
    of_class, _, rest = told.message.partition(": ")
    assert of_class == 'failed to provision volume with StorageClass "local"'
    _, _, said = rest.partition("DataSource Type PersistentVolumeClaim by Name old: ")
    return said or rest


@pytest.mark.parametrize("field", ["dataSource", "dataSourceRef"])
def test_a_claim_that_names_another_is_made_from_a_copy_of_it(field: str) -> None:
    spec: dict[str, Any] = {field: SOURCE}
    old, claim = a_claim("old", **BINDING), a_claim("new", **spec)
    there = seen(a_class(), old, claim, a_volume(**SOUND))

    assert for_claim(claim, there) == [steps.Wait(), steps.Copy(old)]


def test_a_copy_that_is_there_becomes_a_volume_even_if_its_source_is_gone() -> None:
    assert for_claim(a_copy(), seen(a_class(), made=[NEW])) == [steps.Provision("")]


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], str]] = {
    "not bound": (
        {"volumeName": None, "status": {"phase": "Pending"}},
        *({}, {}),
        "the PVC DataSource old must have a status of Bound.  Got Pending",
    ),
    "on its way out": (
        {"metadata": GOING},
        *({}, {}),
        "the PVC DataSource old is currently being deleted",
    ),
    "larger": (
        {"size": "2Ki"},
        {},
        {"size": "1Ki"},
        TOO_SMALL,
    ),
    "for blocks": (
        {},
        {"volumeMode": "Block"},
        {},
        OTHER_MODE,
    ),
    "not made here": ({}, {"metadata": {}}, {}, UNBOUND),
    "of another claim": (
        {},
        {"claimRef": owner("old", "x")},
        {},
        UNBOUND,
    ),
    "of a volume that is gone": (
        {"volumeName": "none"},
        *({}, {}),
        UNBOUND,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_source_that_will_not_do_is_refused_as_kubernetes_refuses_it(name: str) -> None:
    old, volume, new, words = REFUSED[name]
    claim = a_copy(**new)
    there = (a_claim("old", **{**BINDING, **old}), a_volume(**{**SOUND, **volume}))

    assert why(for_claim(claim, seen(a_class(), claim, *there))) == words


def test_a_source_that_is_not_there_is_named() -> None:
    assert why(for_claim(a_copy(), seen(a_class()))) == (
        'error getting PVC old (namespace "home") from api server: persistentvolumeclaim "old" not found'
    )


def test_a_source_that_a_pod_uses_is_waited_for() -> None:
    there = (a_class(), a_claim("old", **BINDING), a_volume(**SOUND))

    used = for_claim(a_copy(), seen(*there, used=[OLD]))

    assert why(used) == "the PVC DataSource old is in use by a pod"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            {"kind": "VolumeSnapshot", "apiGroup": "snapshot.storage.k8s.io", "name": "old"},
            NO_CLAIM,
        ),
        (
            {**SOURCE, "namespace": "away"},
            "a claim is copied within its namespace only, and dataSourceRef names away",
        ),
    ],
)
def test_what_is_no_claim_of_the_namespace_cannot_be_copied(
    source: dict[str, Any], words: str
) -> None:
    claim = a_claim("new", dataSourceRef=source)

    assert why(for_claim(claim, seen(a_class()))) == words


def test_a_claim_is_held_only_while_it_is_copied() -> None:
    old = a_claim("old", metadata={**HELD_STILL, **GOING}, **BINDING)
    there = (a_class(), a_volume(**SOUND))

    assert for_claim(old, seen(*there)) == [steps.Release()]
    assert for_claim(old, seen(*there, copied=[OLD])) == []
