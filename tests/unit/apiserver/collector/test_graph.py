"""The graph of owners: what it costs, and who is found to wait for whom."""

import time
import tracemalloc

from kubevirt.apiserver.collector.graph import Graph
from kubevirt.apiserver.collector.traits import FOREGROUND, Reference, Traits


def owned(uid: str, *, blocks: bool = True) -> Reference:
    return Reference(uid=uid, block_owner_deletion=blocks)


def waiting(uid: str) -> Traits:
    return Traits(name=uid, uid=uid, finalizers=(FOREGROUND,), deletion_timestamp="now")


def test_ten_thousand_dependants_cost_a_few_megabytes() -> None:
    tracemalloc.start()
    try:
        graph = Graph()
        for number in range(10_000):
            uid = f"00000000-0000-0000-0000-{number:012}"
            graph.link(f"/registry/core/pods/default/virt-launcher-{number}", [owned(uid)])
        cost, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert cost < 6_500_000
    for number in range(10_000):
        graph.unlink(f"/registry/core/pods/default/virt-launcher-{number}")
    assert not graph.dependants("00000000-0000-0000-0000-000000000001")


def test_a_new_link_tells_whom_it_frees() -> None:
    graph = Graph()
    assert graph.link("/a", [owned("1"), owned("2")]) == (True, set())
    assert graph.link("/a", [owned("1"), owned("2")]) == (False, set())
    assert graph.link("/a", [owned("2", blocks=False), owned("3")]) == (True, {"1", "2"})
    assert graph.unlink("/a") == {"2", "3"}
    assert not graph.dependants("3")


def test_only_those_that_block_hold_up_their_owner() -> None:
    graph = Graph()
    graph.link("/a", [owned("owner", blocks=False)])
    assert graph.below("owner").any
    assert not graph.below("owner").blocking
    graph.link("/b", [owned("owner")])
    assert graph.below("owner").blocking


def test_a_knot_holds_up_nobody_in_it() -> None:
    """1 → 2 → 3 → 1, each waiting for the next; 0 waits for 1 and is outside."""
    graph = Graph()
    for dependant, owner in (("1", "3"), ("2", "1"), ("3", "2")):
        graph.link(f"/{dependant}", [owned(owner), *([owned("0")] if dependant == "1" else [])])
    for uid in "0123":
        graph.hold(f"/{uid}", waiting(uid))
    assert graph.below("0").blocking
    assert not any(graph.below(uid).blocking for uid in "123")


def test_a_knot_with_a_loose_end_waits_for_it() -> None:
    graph = Graph()
    graph.link("/1", [owned("2")])
    graph.link("/2", [owned("1")])
    graph.link("/end", [owned("2")])
    for uid in "12":
        graph.hold(f"/{uid}", waiting(uid))
    assert graph.below("1").blocking
    graph.hold("/end", waiting("end"))
    assert graph.below("1").blocking  # it will go by itself
    graph.unlink("/end")
    assert not graph.below("1").blocking


def test_an_owner_that_is_gone_is_remembered_while_somebody_names_it() -> None:
    graph = Graph()
    graph.link("/a", [owned("1")])
    assert list(graph.lose("/1", "1")) == ["/a"]
    assert graph.has_lost("1")
    graph.unlink("/a")
    assert not graph.has_lost("1")


def test_other_owners_in_place_of_thousands_hold_nobody_up() -> None:
    """They were compared each with each: seconds, in which nobody was answered."""
    graph = Graph()
    graph.link("/a", [owned(f"old-{number}") for number in range(30_000)])
    began = time.process_time()
    _, left = graph.link("/a", [owned(f"new-{number}") for number in range(30_000)])
    assert time.process_time() - began < 1
    assert len(left) == 30_000
