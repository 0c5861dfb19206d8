"""Claims: what they keep a pod from, and what is done for those that wait for one."""

from typing import Any

import msgspec
import pytest
from tests.unit.embedded.scheduler.objects import (
    a_claim,
    a_class,
    a_cluster,
    a_node,
    a_pod,
    a_storage,
    a_volume,
    using,
)

from kubevirt.api.core.storage import PersistentVolumeClaim
from kubevirt.embedded.objects import claims
from kubevirt.embedded.scheduler import storage
from kubevirt.embedded.scheduler.cluster import Cluster, Place
from kubevirt.embedded.scheduler.decide import Chosen, Nowhere, decide
from kubevirt.embedded.scheduler.storage import Provide, Storage, Take

LATER = a_class("later", "WaitForFirstConsumer")
LOCAL = a_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")
AT_ONCE = a_class("at-once", "Immediate")
NOTHING_TO_BIND = ["node(s) didn't find available persistent volumes to bind"]


def bound_to(volume: str, **more: Any) -> PersistentVolumeClaim:
    done = {"annotations": {claims.BIND_COMPLETED: "yes"}}
    return a_claim("data", "local", metadata=done, volumeName=volume, **more)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (None, 'persistentvolumeclaim "data" not found'),
        (
            a_claim("data", "local", volumeName="v", status={"phase": "Lost"}),
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"',
        ),
        (
            a_claim("data", "local", metadata={"deletionTimestamp": "2030-01-01T00:00:00Z"}),
            'persistentvolumeclaim "data" is being deleted',
        ),
        (a_claim("data", "at-once"), "pod has unbound immediate PersistentVolumeClaims"),
        (a_claim("data", "unknown"), "pod has unbound immediate PersistentVolumeClaims"),
        (
            a_claim("data", "later", volumeName="v"),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        (a_claim("data", "later"), None),
        (bound_to("v"), None),
    ],
)
def test_a_claim_may_keep_its_pod_from_every_node(
    claim: PersistentVolumeClaim | None, words: str | None
) -> None:
    known = a_storage(*([claim] if claim else []), AT_ONCE, LATER, LOCAL)
    assert storage.trouble(a_pod(**using("data")), known) == words


def test_trouble_with_a_claim_is_told_without_counting_nodes() -> None:
    cluster = msgspec.structs.replace(a_cluster(a_node()), storage=a_storage())
    assert decide(a_pod(**using("data")), cluster) == Nowhere(
        '0/1 nodes are available: persistentvolumeclaim "data" not found.'
    )


def test_a_bound_volume_ties_its_pod_to_its_node() -> None:
    known = a_storage(bound_to("v"), a_volume("v", "local", "two"), LOCAL)
    pod = a_pod(**using("data"))
    cluster = msgspec.structs.replace(a_cluster(a_node("one"), a_node("two")), storage=known)

    assert list(storage.reasons(pod, a_node("one"), known)) == [
        "node(s) didn't match PersistentVolume's node affinity"
    ]
    assert decide(pod, cluster) == Chosen("two")


def test_a_claim_whose_volume_is_gone_fits_nowhere() -> None:
    found = list(storage.reasons(a_pod(**using("data")), a_node(), a_storage(bound_to("v"))))
    assert found == ["node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"]


def test_a_claim_that_waits_gets_a_volume_made_for_its_node() -> None:
    claim = a_claim("data", "later")
    known = a_storage(claim, LATER)

    assert storage.steps(a_pod(**using("data")), a_node(), known) == [Provide(claim)]


def test_a_claim_that_two_volumes_of_a_pod_use_is_provided_once() -> None:
    claim = a_claim("data", "later")
    known = a_storage(claim, LATER)

    assert storage.steps(a_pod(**using("data", "data")), a_node(), known) == [Provide(claim)]


def test_a_claim_that_another_node_was_selected_for_stays_there() -> None:
    claim = a_claim("data", "later", metadata={"annotations": {claims.SELECTED_NODE: "two"}})
    known = a_storage(claim, LATER)
    pod = a_pod(**using("data"))

    assert list(storage.reasons(pod, a_node("one"), known)) == NOTHING_TO_BIND
    assert storage.steps(pod, a_node("two"), known) == [Provide(claim)]


def test_volumes_are_made_only_where_their_class_says() -> None:
    zone = [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]
    zoned = a_class("zoned", "WaitForFirstConsumer", allowedTopologies=zone)
    known = a_storage(a_claim("data", "zoned"), zoned)
    pod = a_pod(**using("data"))

    assert list(storage.reasons(pod, a_node(), known)) == NOTHING_TO_BIND
    assert list(storage.reasons(pod, a_node(labels={"zone": "a"}), known)) == []


def test_the_smallest_volume_that_will_do_is_taken() -> None:
    claim = a_claim("data", "local", size="2Gi")
    volumes = [a_volume(f"of-{size}", "local", "one", size=size) for size in ("1Gi", "9Gi", "3Gi")]
    known = a_storage(claim, *volumes, LOCAL)

    assert storage.steps(a_pod(**using("data")), a_node("one"), known) == [Take(claim, volumes[2])]


def test_two_claims_do_not_take_the_same_volume() -> None:
    wanted = [a_claim("a", "local"), a_claim("b", "local")]
    volumes = [a_volume("small", "local"), a_volume("large", "local", size="2Gi")]
    known = a_storage(*wanted, *volumes, LOCAL)

    steps = storage.steps(a_pod(**using("a", "b")), a_node(), known)

    assert steps == [Take(wanted[0], volumes[0]), Take(wanted[1], volumes[1])]


UNFIT: dict[str, dict[str, Any]] = {
    "too small": {"size": "1Mi"},
    "for blocks": {"volumeMode": "Block"},
    "read only": {"accessModes": ["ReadOnlyMany"]},
    "not free any more": {"phase": "Released"},
    "somebody else's": {"claimRef": {"namespace": "home", "name": "other", "uid": "x"}},
    "of an earlier claim of that name": {
        "claimRef": {"namespace": "home", "name": "data", "uid": "an-older-one"}
    },
    "on its way out": {"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}},
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_volume_that_will_not_do_is_not_taken(name: str) -> None:
    known = a_storage(a_claim("data", "local"), a_volume("v", "local", **UNFIT[name]), LOCAL)
    assert storage.steps(a_pod(**using("data")), a_node(), known) is None


def test_a_volume_that_waits_for_its_claim_is_taken_before_all_others() -> None:
    claim = a_claim("data", "local")
    meant = {"namespace": "home", "name": "data"}
    own = a_volume("own", "local", size="9Gi", phase="Available", claimRef=meant)
    known = a_storage(claim, a_volume("any", "local"), own, LOCAL)

    assert storage.steps(a_pod(**using("data")), a_node(), known) == [Take(claim, own)]


def test_a_selector_of_a_claim_is_heeded() -> None:
    claim = a_claim("data", "local", selector={"matchLabels": {"disk": "fast"}})
    fast = a_volume("z", "local", metadata={"labels": {"disk": "fast"}})
    known = a_storage(claim, a_volume("a", "local"), fast, LOCAL)

    assert storage.steps(a_pod(**using("data")), a_node(), known) == [Take(claim, fast)]


def test_a_volume_that_was_promised_to_another_claim_is_not_given_away_again() -> None:
    known = a_storage(a_claim("data", "local"), a_volume("v", "local"), LOCAL, v="uid-of-other")
    assert storage.steps(a_pod(**using("data")), a_node(), known) is None


def test_a_claim_for_one_pod_keeps_the_second_out() -> None:
    claim = bound_to("v", accessModes=["ReadWriteOncePod"])
    known: Storage = a_storage(claim, a_volume("v", "local"))
    place = Place(node=a_node(), pods=[a_pod("first", **using("data"))])
    cluster = Cluster(places=[place], storage=known)

    assert decide(a_pod("second", **using("data")), cluster) == Nowhere(
        "0/1 nodes are available: 1 node(s) unavailable due to PersistentVolumeClaim with "
        "ReadWriteOncePod access mode already in-use by another pod."
    )
