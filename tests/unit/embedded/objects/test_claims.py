"""Which volume a claim can have: the same for whoever asks, by Kubernetes' rules."""

from typing import Any

import pytest
from tests.unit.embedded.scheduler.objects import a_claim, a_node, a_volume

from kubevirt.embedded.objects import claims
from kubevirt.embedded.objects.claims import best

FOR_DATA = {"namespace": "home", "name": "data"}
OF_OLD = {"annotations": {"volume.beta.kubernetes.io/storage-class": "local"}}
EVERYBODY: list[dict[str, Any]] = [{}, {"node": a_node("one")}]
"""Who asks: storage, and the scheduler for a node."""


@pytest.mark.parametrize("asked", EVERYBODY)
def test_a_class_may_be_said_as_it_was_before_there_was_a_field(asked: dict[str, Any]) -> None:
    volume = a_volume("v", "", metadata=OF_OLD)

    assert best(a_claim("data", "local"), [volume], **asked) == volume
    assert best(a_claim("data", "other", metadata=OF_OLD), [volume], **asked) == volume
    assert best(a_claim("data", ""), [volume], **asked) is None


@pytest.mark.parametrize("asked", EVERYBODY)
@pytest.mark.parametrize("phase", ["", "Pending", "Released", "Failed", "Bound"])
def test_a_volume_is_free_only_once_it_says_so(phase: str, asked: dict[str, Any]) -> None:
    assert best(a_claim("data", "local"), [a_volume("v", "local", phase=phase)], **asked) is None


@pytest.mark.parametrize("asked", [*EVERYBODY, {"is_delayed": True}])
def test_a_volume_that_was_made_for_a_claim_needs_neither_its_class_nor_its_labels(
    asked: dict[str, Any],
) -> None:
    claim = a_claim("data", "local", selector={"matchLabels": {"disk": "fast"}})
    own = a_volume("own", "other", claimRef=FOR_DATA, phase="Pending")

    assert best(claim, [own], **asked) == own


@pytest.mark.parametrize("asked", EVERYBODY)
@pytest.mark.parametrize(
    "more",
    [
        {"size": "1Mi"},
        {"volumeMode": "Block"},
        {"accessModes": ["ReadOnlyMany"]},
        {"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}},
    ],
)
def test_a_volume_that_was_made_for_a_claim_has_to_do_all_the_same(
    more: dict[str, Any], asked: dict[str, Any]
) -> None:
    own = a_volume("own", "local", claimRef=FOR_DATA, **more)

    assert best(a_claim("data", "local"), [own], **asked) is None


def test_where_the_volume_of_a_claim_cannot_be_had_no_other_will_do() -> None:
    own, free = a_volume("own", "local", "two", claimRef=FOR_DATA), a_volume("free", "local")
    claim = a_claim("data", "local")

    assert best(claim, [own, free], node=a_node("one")) is None
    assert best(claim, [own, free], node=a_node("two")) == own
    assert best(claim, [own, free]) == own


def test_before_a_node_is_chosen_a_claim_that_waits_for_one_takes_nothing_free() -> None:
    claim, free = a_claim("data", "local"), a_volume("free", "local")

    assert best(claim, [free], is_delayed=True) is None
    assert best(claim, [free], is_delayed=True, node=a_node()) == free


def test_storage_leaves_a_volume_for_many_to_those_who_need_it() -> None:
    both = ["ReadWriteOnce", "ReadWriteMany"]
    volumes = [a_volume("many", "local", accessModes=both), a_volume("one", "local", size="9Gi")]

    assert best(a_claim("data", "local"), volumes) == volumes[1]
    assert best(a_claim("data", "local"), volumes, node=a_node()) == volumes[0]


def test_a_claim_is_bound_once_that_is_written_on_it() -> None:
    done = {"annotations": {claims.BIND_COMPLETED: "yes"}}

    assert claims.is_bound(a_claim("data", "local", metadata=done, volumeName="v"))
    assert not claims.is_bound(a_claim("data", "local", metadata=done))
    shown = a_claim("data", "local", volumeName="v", status={"phase": "Bound"})
    assert not claims.is_bound(shown)


def test_a_claim_that_names_its_volume_has_picked_it_whatever_its_labels() -> None:
    claim = a_claim("data", "local", selector={"matchLabels": {"disk": "fast"}})

    assert claims.misfit(claim, a_volume("v", "local")) == ""


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"size": "1Mi"}, "requested PV is too small"),
        ({"storageClassName": "other"}, "storageClassName does not match"),
        ({"volumeMode": "Block"}, "incompatible volumeMode"),
        ({"accessModes": ["ReadOnlyMany"]}, "incompatible accessMode"),
        (
            {"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}},
            'the volume is marked for deletion "v"',
        ),
    ],
)
def test_why_a_volume_will_not_do_is_told_as_kubernetes_tells_it(
    more: dict[str, Any], words: str
) -> None:
    assert claims.misfit(a_claim("data", "local"), a_volume("v", "local", **more)) == words
