"""What is decided for claims and volumes, one situation at a time."""

from typing import Any

import pytest
from tests.unit.embedded.storage.objects import (
    BOUND,
    GOING,
    HELD,
    OURS,
    a_claim,
    a_class,
    a_volume,
    owner,
    seen,
)

from kubevirt.embedded.storage import steps
from kubevirt.embedded.storage.decide import for_claim, for_volume
from kubevirt.kube.key import Key

DELAYED = a_class(volumeBindingMode="WaitForFirstConsumer")
SELECTED = {"annotations": {"volume.kubernetes.io/selected-node": "n1"}}
KEY = Key("home", "data")


def told(found: list[Any]) -> list[str]:
    return [each.reason for each in found if isinstance(each, steps.Tell | steps.Lose)]


def test_a_volume_is_made_at_once_where_binding_is_immediate() -> None:
    assert for_claim(a_claim(), seen(a_class())) == [steps.Provision("")]


def test_a_volume_is_made_once_a_node_is_chosen_where_binding_is_delayed() -> None:
    assert told(for_claim(a_claim(), seen(DELAYED))) == ["WaitForFirstConsumer"]
    waiting = seen(DELAYED, waiting_pods={KEY: "web"})
    assert told(for_claim(a_claim(), waiting)) == ["WaitForPodScheduled"]
    assert for_claim(a_claim(metadata=SELECTED), seen(DELAYED)) == [steps.Provision("n1")]


def test_a_delayed_claim_takes_only_a_volume_that_was_given_to_it() -> None:
    free, given = a_volume("free"), a_volume("given", claimRef=owner("data"))

    assert told(for_claim(a_claim(), seen(DELAYED, free))) == ["WaitForFirstConsumer"]
    assert for_claim(a_claim(), seen(DELAYED, free, given)) == [steps.Bind(given)]


def test_a_volume_that_is_there_comes_before_a_new_one() -> None:
    volume = a_volume(size="2Gi")

    assert for_claim(a_claim(), seen(a_class(), volume)) == [steps.Bind(volume)]


@pytest.mark.parametrize(
    ("volume", "claim"),
    [
        ({"size": "500Mi"}, {}),
        ({"storageClassName": "other"}, {}),
        ({"volumeMode": "Block"}, {}),
        ({"accessModes": ["ReadOnlyMany"]}, {}),
        ({"claimRef": owner("other")}, {}),
        ({"claimRef": owner("data", "uid-of-another")}, {}),
        ({"status": {"phase": "Released"}}, {}),
        ({"status": {"phase": "Failed"}}, {}),
        ({"metadata": GOING}, {}),
        ({}, {"selector": {"matchLabels": {"kind": "fast"}}}),
    ],
)
def test_a_volume_that_will_not_do_is_not_taken(
    volume: dict[str, Any], claim: dict[str, Any]
) -> None:
    found = for_claim(a_claim(**claim), seen(a_class(provisioner="x"), a_volume(**volume)))

    assert told(found) == ["ExternalProvisioning"]


def test_a_selector_picks_by_labels() -> None:
    fast = a_volume(metadata={"labels": {"kind": "fast"}})
    claim = a_claim(selector={"matchLabels": {"kind": "fast"}})

    assert for_claim(claim, seen(a_class(), a_volume("slow"), fast)) == [steps.Bind(fast)]
    assert told(for_claim(claim, seen(a_class()))) == ["ProvisioningFailed"]


def test_what_cannot_be_made_is_said() -> None:
    source = {"kind": "PersistentVolumeClaim", "name": "old"}

    assert told(for_claim(a_claim(dataSource=source), seen(a_class()))) == ["ProvisioningFailed"]
    assert told(for_claim(a_claim(), seen())) == ["ProvisioningFailed"]
    none = a_class(provisioner="kubernetes.io/no-provisioner")
    assert told(for_claim(a_claim(), seen(none))) == ["FailedBinding"]
    assert told(for_claim(a_claim(storageClassName=""), seen(a_class()))) == ["FailedBinding"]


def test_a_claim_without_a_class_gets_the_default_one_but_not_if_it_wants_none() -> None:
    usual = a_class("usual", metadata={"name": "usual", "annotations": _DEFAULT})
    found = seen(usual, a_class())

    assert for_claim(a_claim(storageClassName=None), found) == [steps.Classify("usual")]
    assert told(for_claim(a_claim(storageClassName=""), found)) == ["FailedBinding"]


_DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}


def test_a_claim_that_is_bound_is_left_alone() -> None:
    volume = a_volume(metadata=HELD, claimRef=owner("data"), status={"phase": "Bound"})
    claim = a_claim(metadata=BOUND, volumeName="one", status={"phase": "Bound"})
    found = seen(a_class(), volume, claim)

    assert for_claim(claim, found) == []
    assert for_volume(volume, found) == []


@pytest.mark.parametrize(
    ("volume", "claim"),
    [
        ({"claimRef": None}, {}),
        ({"claimRef": owner("data", "")}, {}),
        ({"metadata": {}}, {}),
        ({}, {"metadata": {"annotations": BOUND["annotations"]}}),
        ({}, {"status": {"phase": "Pending"}}),
        ({}, {"metadata": {}}),
    ],
)
def test_a_binding_that_was_left_half_done_is_finished(
    volume: dict[str, Any], claim: dict[str, Any]
) -> None:
    whole = {"metadata": HELD, "claimRef": owner("data"), "status": {"phase": "Bound"}}
    bound = {"metadata": BOUND, "volumeName": "one", "status": {"phase": "Bound"}}
    half = a_volume(**{**whole, **volume})

    assert for_claim(a_claim(**{**bound, **claim}), seen(a_class(), half)) == [steps.Bind(half)]


def test_a_claim_is_lost_with_its_volume() -> None:
    bound: dict[str, Any] = {"metadata": BOUND, "status": {"phase": "Bound"}}
    other = a_volume(claimRef=owner("other"))

    assert told(for_claim(a_claim(**bound), seen())) == ["ClaimLost"]
    assert told(for_claim(a_claim(volumeName="one", **bound), seen())) == ["ClaimLost"]
    assert told(for_claim(a_claim(volumeName="one", **bound), seen(other))) == ["ClaimMisbound"]


def test_a_claim_that_goes_stays_while_it_is_used() -> None:
    claim = a_claim(metadata={**BOUND, **GOING})

    assert for_claim(claim, seen(used=[KEY])) == []
    assert for_claim(claim, seen()) == [steps.Unprotect()]
    assert for_claim(a_claim(metadata=GOING), seen()) == []


def test_a_claim_grows_only_where_it_may() -> None:
    volume = a_volume(metadata={**HELD, **OURS}, claimRef=owner("data"))
    claim = a_claim(size="2Gi", metadata=BOUND, volumeName="one", status={"phase": "Bound"})
    may = a_class(allowVolumeExpansion=True)

    assert for_claim(claim, seen(may, volume)) == [steps.Grow(volume, "2Gi")]
    assert for_claim(claim, seen(a_class(), volume)) == []
    theirs = a_volume(metadata=HELD, claimRef=owner("data"))
    assert for_claim(claim, seen(may, theirs)) == []


def test_a_volume_shows_whose_it_is() -> None:
    new = {"phase": "Pending"}
    claim = a_claim(volumeName="one")

    assert for_volume(a_volume(status=new), seen()) == [steps.Show("Available")]
    kept = a_volume(status=new, claimRef=owner("data", ""))
    assert for_volume(kept, seen(claim)) == [steps.Show("Available")]
    taken = a_volume(status=new, claimRef=owner("data"))
    assert for_volume(taken, seen(claim)) == [steps.Show("Bound")]
    assert for_volume(taken, seen(a_claim())) == []


@pytest.mark.parametrize("claims", [(), (a_claim(metadata={"uid": "another"}),)])
def test_what_becomes_of_a_volume_whose_claim_is_gone(claims: tuple[Any, ...]) -> None:
    def after(policy: str, **more: Any) -> list[Any]:
        given = {"claimRef": owner("data"), "persistentVolumeReclaimPolicy": policy, **more}
        return for_volume(a_volume(**given), seen(*claims))

    assert after("Retain") == [steps.Show("Released")]
    assert after("Retain", metadata=OURS) == [steps.Show("Released")]
    assert after("Delete", metadata=OURS) == [steps.Show("Released"), steps.Reclaim()]
    assert told(after("Delete")) == ["VolumeFailedDelete"]
    assert told(after("Recycle", metadata=OURS)) == ["VolumeFailedDelete"]


def test_a_volume_that_its_claim_did_not_take_is_free_again() -> None:
    claim = a_claim(volumeName="two")
    spare: dict[str, Any] = {"claimRef": owner("data"), "persistentVolumeReclaimPolicy": "Delete"}

    assert for_volume(a_volume(**spare), seen(claim)) == [steps.Free()]
    ours = for_volume(a_volume(metadata=OURS, **spare), seen(claim))
    assert ours == [steps.Show("Released"), steps.Reclaim()]


def test_a_volume_that_goes_stays_while_a_claim_has_it() -> None:
    going = {**HELD, **GOING}
    bound = a_claim(volumeName="one")
    policy: dict[str, Any] = {"persistentVolumeReclaimPolicy": "Delete", "claimRef": owner("data")}
    ours = a_volume(metadata={**going, **OURS}, **policy)

    assert for_volume(ours, seen(bound)) == []
    assert for_volume(ours, seen()) == [steps.Reclaim()]
    assert for_volume(a_volume(metadata=going, **policy), seen()) == [steps.Unprotect()]
    assert for_volume(a_volume(metadata=GOING), seen()) == []
