"""Who is where, and what that leaves for others."""

from hypothesis import given
from hypothesis import strategies as some
from tests.unit.embedded.scheduler.objects import a_node, a_pod

from kubevirt.api.core.pod import Pod
from kubevirt.base.quantity import Quantity
from kubevirt.embedded.scheduler import demand
from kubevirt.embedded.scheduler.cluster import Place
from kubevirt.embedded.scheduler.decide import Chosen, Nowhere, decide
from kubevirt.embedded.scheduler.ledger import Ledger
from kubevirt.embedded.scheduler.storage import Storage

FULL = Nowhere("0/1 nodes are available: 1 Insufficient cpu.")


def a_ledger() -> Ledger:
    ledger = Ledger()
    ledger.put_node(a_node("one"))
    return ledger


def places(ledger: Ledger) -> list[Place]:
    return list(ledger.cluster({}, Storage()).places)


def test_what_was_just_given_away_is_not_given_again() -> None:
    ledger = a_ledger()
    ledger.assume(a_pod("a", requests={"cpu": "1500m"}), "one")

    assert decide(a_pod("b", requests={"cpu": "1"}), ledger.cluster({}, Storage())) == FULL


def test_what_did_not_come_about_is_free_again() -> None:
    ledger = a_ledger()
    ledger.assume(a_pod("a", requests={"cpu": "1500m"}), "one")

    assert ledger.unassume("uid-of-a")

    wanted = a_pod("b", requests={"cpu": "1"})
    assert decide(wanted, ledger.cluster({}, Storage())) == Chosen("one")


def test_a_pod_that_the_server_has_seen_is_not_assumed_any_more() -> None:
    ledger = a_ledger()
    pod = a_pod("a", requests={"cpu": "1500m"})
    ledger.assume(pod, "one")
    assert ledger.is_assumed("uid-of-a")

    assert not ledger.put(pod, "one"), "it was there already"

    assert not ledger.is_assumed("uid-of-a")
    assert not ledger.unassume("uid-of-a")
    assert places(ledger)[0].taken == {"cpu": Quantity.parse("1500m")}


def test_a_pod_that_turns_out_to_be_elsewhere_counts_there_only() -> None:
    ledger = a_ledger()
    ledger.put_node(a_node("two"))
    pod = a_pod("a", requests={"cpu": "1"})
    ledger.assume(pod, "one")

    assert ledger.put(pod, "two")

    taken = {place.name: place.taken for place in places(ledger)}
    assert taken == {"one": {}, "two": {"cpu": Quantity.parse("1")}}


def test_a_pod_may_be_heard_of_before_its_node() -> None:
    ledger = Ledger()
    ledger.put(a_pod("a", requests={"cpu": "1500m"}), "one")
    ledger.put_node(a_node("one"))

    assert [len(place.pods) for place in places(ledger)] == [1]


def test_a_pod_that_goes_leaves_nothing_behind() -> None:
    ledger = a_ledger()
    ledger.put(a_pod("a", requests={"cpu": "1"}), "one")

    assert ledger.drop("uid-of-a")
    assert not ledger.drop("uid-of-a")
    assert places(ledger) == [Place(node=a_node("one"), pods=[], counted={})]


def test_a_node_that_goes_and_comes_back_still_has_its_pods() -> None:
    ledger = a_ledger()
    ledger.put(a_pod("a"), "one")
    ledger.drop_node("one")
    assert places(ledger) == []
    assert ledger.node("one") is None

    ledger.put_node(a_node("one"))
    assert len(places(ledger)[0].pods) == 1


PODS = some.builds(
    lambda number, cpu: a_pod(str(number), requests={"cpu": f"{cpu}m"} if cpu else {}),
    some.integers(0, 3),
    some.integers(0, 3),
)
NODES = some.sampled_from(("one", "two"))
DEEDS = some.one_of(
    some.tuples(some.just("put"), PODS, NODES),
    some.tuples(some.just("assume"), PODS, NODES),
    some.tuples(some.just("unassume"), PODS, NODES),
    some.tuples(some.just("drop"), PODS, NODES),
    some.tuples(some.just("put_node"), PODS, NODES),
    some.tuples(some.just("drop_node"), PODS, NODES),
)


@given(some.lists(DEEDS, max_size=40))
def test_the_count_is_always_that_of_the_pods_that_are_there(
    deeds: list[tuple[str, Pod, str]],
) -> None:
    ledger = Ledger()
    homes: dict[str, tuple[Pod, str, bool]] = {}
    for deed, pod, node in deeds:
        uid = pod.metadata.uid
        if deed in ("put", "assume"):
            getattr(ledger, deed)(pod, node)
            homes[uid] = (pod, node, deed == "assume")
        elif deed == "drop":
            assert ledger.drop(uid) == (homes.pop(uid, None) is not None)
        elif deed == "unassume":
            is_assumed = uid in homes and homes[uid][2]
            assert ledger.unassume(uid) == is_assumed
            if is_assumed:
                del homes[uid]
        elif deed == "put_node":
            ledger.put_node(a_node(node))
        else:
            ledger.drop_node(node)
        for place in places(ledger):
            there = [each for each, at, _ in homes.values() if at == place.name]
            assert {each.metadata.uid for each in place.pods} == {
                each.metadata.uid for each in there
            }
            assert place.taken == demand.added(demand.of_pod(each) for each in there)
