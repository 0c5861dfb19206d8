"""CPU, memory, huge pages and devices that a pod asks for."""

from typing import Any

import pytest
from tests.unit.virt.pod.cases import a_pod, limits, requests

from kubevirt.base.errors import UserError
from kubevirt.base.quantity import Quantity
from kubevirt.virt.errors import SpecError, UnsupportedError
from kubevirt.virt.pod import devices
from kubevirt.virt.pod.config import KVM, TUN, VHOST_NET, VHOST_VSOCK

MIB = 1 << 20
ALL = frozenset({KVM, TUN, VHOST_NET, VHOST_VSOCK})


def overhead(pod: Any) -> int:
    return int(pod.metadata.annotations["kubevirt.io/memory-overhead-bytes"])


def size(value: int | str) -> int:
    return Quantity.from_json(value).value()


def domain(**values: Any) -> dict[str, Any]:
    return {"domain": values}


def a_card(**values: Any) -> dict[str, Any]:
    return {
        "domain": {"devices": {"interfaces": [{"name": "default", "masquerade": {}, **values}]}},
        "networks": [{"name": "default", "pod": {}}],
    }


def test_a_tenth_of_a_cpu_is_requested_for_each_vcpu() -> None:
    assert requests(a_pod())["cpu"] == "100m"
    assert requests(a_pod(domain(cpu={"cores": 3})))["cpu"] == "300m"


def test_the_allocation_ratio_is_a_setting() -> None:
    assert requests(a_pod(domain(cpu={"cores": 3}), cpu_allocation_ratio=1))["cpu"] == "3"
    assert requests(a_pod(cpu_allocation_ratio=3))["cpu"] == "334m"


def test_cpus_that_an_instance_names_are_taken_as_they_are() -> None:
    pod = a_pod(domain(resources={"requests": {"cpu": "250m"}, "limits": {"cpu": "2"}}))
    assert (requests(pod)["cpu"], limits(pod)["cpu"]) == ("250m", "2")


def test_a_cpu_limit_alone_is_also_the_request() -> None:
    assert requests(a_pod(domain(resources={"limits": {"cpu": "2"}})))["cpu"] == "2"


def test_dedicated_cpus_are_whole_and_limited_and_so_is_memory() -> None:
    pod = a_pod(domain(cpu={"cores": 2, "dedicatedCpuPlacement": True}))
    assert requests(pod)["cpu"] == limits(pod)["cpu"] == "2"
    assert requests(pod)["memory"] == limits(pod)["memory"]


def test_an_emulator_thread_of_its_own_is_one_cpu_more() -> None:
    cpu = {"cores": 2, "dedicatedCpuPlacement": True, "isolateEmulatorThread": True}
    assert limits(a_pod(domain(cpu=cpu)))["cpu"] == "3"


def test_memory_is_the_guests_and_what_it_costs_beside() -> None:
    pod = a_pod()
    assert size(requests(pod)["memory"]) == 64 * MIB + overhead(pod)
    assert "memory" not in limits(pod)


def test_overcommitted_memory_is_requested_in_part() -> None:
    pod = a_pod(memory_overcommit=200)
    assert size(requests(pod)["memory"]) == 32 * MIB + overhead(pod)


def test_a_request_for_memory_wins_over_the_guests_size() -> None:
    pod = a_pod(domain(memory={"guest": "64Mi"}, resources={"requests": {"memory": "40Mi"}}))
    assert size(requests(pod)["memory"]) == 40 * MIB + overhead(pod)


def test_a_memory_limit_grows_by_the_overhead_and_is_also_the_request() -> None:
    pod = a_pod(domain(memory=None, resources={"limits": {"memory": "100Mi"}}))
    assert size(limits(pod)["memory"]) == 100 * MIB + overhead(pod)
    assert size(requests(pod)["memory"]) == 100 * MIB + overhead(pod)


def test_an_overcommitted_overhead_is_left_out_of_the_request_only() -> None:
    resources = {"limits": {"memory": "64Mi"}, "overcommitGuestOverhead": True}
    pod = a_pod(domain(resources=resources))
    assert size(requests(pod)["memory"]) == 64 * MIB
    assert size(limits(pod)["memory"]) == 64 * MIB + overhead(pod)


def test_a_guest_in_huge_pages_takes_ordinary_memory_only_for_the_rest() -> None:
    pod = a_pod(domain(memory={"guest": "64Mi", "hugepages": {"pageSize": "2Mi"}}))
    assert requests(pod)["hugepages-2Mi"] == limits(pod)["hugepages-2Mi"] == "64Mi"
    assert size(requests(pod)["memory"]) == overhead(pod)


@pytest.mark.parametrize("page", ["3Mi", "0", "-2Mi"])
def test_memory_that_is_no_whole_number_of_huge_pages_is_refused(page: str) -> None:
    with pytest.raises(SpecError, match="no multiple of its huge pages"):
        a_pod(domain(memory={"guest": "64Mi", "hugepages": {"pageSize": page}}))


@pytest.mark.parametrize("memory", ["-1Mi", "much"])
def test_memory_that_is_no_size_is_refused(memory: str) -> None:
    with pytest.raises(UserError):
        a_pod(domain(memory={"guest": "64Mi"}, resources={"requests": {"memory": memory}}))


def test_other_resources_are_passed_on() -> None:
    assert (
        requests(a_pod(domain(resources={"requests": {"ephemeral-storage": "1G"}})))[
            "ephemeral-storage"
        ]
        == "1G"
    )


def test_an_emulated_guest_without_cards_asks_for_no_device() -> None:
    assert limits(a_pod(devices=ALL)) == {}


def test_a_guest_on_hardware_asks_for_kvm_even_if_no_node_has_it() -> None:
    assert limits(a_pod(emulation=False, devices=frozenset())) == {KVM: "1"}


def test_a_card_asks_for_the_devices_that_nodes_have() -> None:
    assert limits(a_pod(a_card())) == {TUN: "1"}
    assert limits(a_pod(a_card(), devices=frozenset())) == {}
    wanted = {KVM: "1", TUN: "1", VHOST_NET: "1"}
    for card in (a_card(), a_card(model="virtio")):
        assert limits(a_pod(card, devices=ALL, emulation=False)) == wanted


def test_what_is_emulated_has_no_use_for_vhost() -> None:
    assert limits(a_pod(a_card(), devices=ALL)) == {TUN: "1"}
    card = a_card(model="e1000e")
    assert limits(a_pod(card, devices=ALL, emulation=False)) == {KVM: "1", TUN: "1"}


def test_pods_ask_for_what_all_nodes_have_and_for_taps() -> None:
    """A pod that asks for what only some have could not run on the others."""
    assert devices.offered([]) == {TUN}
    assert devices.offered([frozenset()]) == {TUN}
    assert devices.offered([ALL | {"cpu"}, ALL]) == {TUN, VHOST_NET, VHOST_VSOCK}
    assert devices.offered([ALL, frozenset({VHOST_NET})]) == {TUN, VHOST_NET}


def test_a_vsock_is_asked_for_or_refused() -> None:
    vsock = domain(devices={"autoattachVSOCK": True})
    assert limits(a_pod(vsock, devices=ALL)) == {VHOST_VSOCK: "1"}
    with pytest.raises(UnsupportedError, match="no node offers vsock"):
        a_pod(vsock)
