"""Who answers behind an address of a Service."""

from typing import Any

import pytest
from tests.unit.embedded.network.things import a_service, a_slice, an_endpoint

from kubevirt.embedded.network.objects import EndpointSlice, Service
from kubevirt.embedded.network.services.fronts import Backend, Front, fronts


def only(service: Service, *slices: EndpointSlice) -> Front:
    (found,) = fronts([service], slices)
    return found


def test_a_service_leads_to_its_ready_endpoints() -> None:
    found = only(a_service(), a_slice(an_endpoint("10.244.0.6"), an_endpoint("10.244.0.5")))
    assert found == Front(
        name="default/web",
        address="10.96.0.7",
        port=80,
        protocol="tcp",
        backends=[Backend("10.244.0.5", 8080), Backend("10.244.0.6", 8080)],
    )


def test_slices_of_other_services_and_namespaces_are_theirs() -> None:
    found = only(
        a_service(),
        a_slice(an_endpoint("10.244.0.5"), service="other"),
        a_slice(an_endpoint("10.244.0.6"), namespace="elsewhere"),
    )
    assert found.backends == ()


def test_ports_are_matched_by_name_and_protocol() -> None:
    ports = [
        {"name": "http", "port": 8080, "protocol": "UDP"},
        {"name": "metrics", "port": 9090, "protocol": "TCP"},
        {"name": "http", "port": 8081, "protocol": "TCP"},
    ]
    found = only(a_service(), a_slice(an_endpoint("10.244.0.5"), ports=ports))
    assert found.backends == [Backend("10.244.0.5", 8081)]


def test_a_port_without_a_name_is_one_by_the_name_of_nothing() -> None:
    service = a_service(ports=[{"port": 80}])
    found = only(service, a_slice(an_endpoint("10.244.0.5"), ports=[{"name": "", "port": 1}]))
    assert found.backends == [Backend("10.244.0.5", 1)]


@pytest.mark.parametrize(
    ("conditions", "is_led_to"),
    [
        ({}, True),
        ({"ready": True}, True),
        ({"ready": False}, False),
        ({"ready": False, "serving": True, "terminating": True}, False),
    ],
)
def test_an_endpoint_counts_by_its_conditions(
    conditions: dict[str, Any],
    is_led_to: bool,  # noqa: FBT001
) -> None:
    slices = a_slice(an_endpoint("10.244.0.5", conditions=conditions), an_endpoint("10.244.0.6"))
    found = only(a_service(), slices)
    assert (Backend("10.244.0.5", 8080) in found.backends) is is_led_to


def test_those_that_are_ending_serve_if_there_is_nobody_else() -> None:
    ending = {"ready": False, "serving": True, "terminating": True}
    broken = {"ready": False, "serving": False, "terminating": True}
    found = only(
        a_service(),
        a_slice(
            an_endpoint("10.244.0.5", conditions=ending),
            an_endpoint("10.244.0.6", conditions=broken),
        ),
    )
    assert found.backends == [Backend("10.244.0.5", 8080)]


@pytest.mark.parametrize(
    "spec",
    [
        {"clusterIP": "None"},
        {"clusterIP": None},
        {"clusterIP": "fd00::1"},
        {"clusterIP": "10.96.0.7", "type": "ExternalName"},
        {"ports": [{"port": 80, "protocol": "NONSENSE"}]},
        {"ports": None},
    ],
)
def test_what_has_no_address_of_ours_has_no_front(spec: dict[str, Any]) -> None:
    assert fronts([a_service(**spec)], [a_slice(an_endpoint("10.244.0.5"))]) == []


def test_addresses_that_are_none_of_ipv4_are_left_out() -> None:
    found = only(
        a_service(),
        a_slice(an_endpoint("fd00::5"), address_type="IPv6"),
        a_slice(an_endpoint("not-an-address"), an_endpoint("10.244.0.5")),
        a_slice(ports=None),
    )
    assert found.backends == [Backend("10.244.0.5", 8080)]


def test_affinity_has_a_time() -> None:
    assert only(a_service()).affinity_s == 0
    assert only(a_service(sessionAffinity="ClientIP")).affinity_s == 10800
    config = {"clientIP": {"timeoutSeconds": 60}}
    stays = a_service(sessionAffinity="ClientIP", sessionAffinityConfig=config)
    assert only(stays).affinity_s == 60


def test_the_same_cluster_gives_the_same_fronts_in_any_order() -> None:
    services = [a_service(f"s{number}", clusterIP=f"10.96.0.{number}") for number in range(1, 9)]
    assert fronts(services, []) == fronts(reversed(services), [])
