"""What is written of a Service's endpoints, and what is not. Who is behind it is in `tests/contract/endpoints`."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.embedded.controllers.endpoints import legacy
from kubevirt.embedded.controllers.endpoints.behind import behind
from kubevirt.embedded.controllers.endpoints.objects import (
    Endpoints,
    EndpointSlice,
    Pod,
    Service,
)
from kubevirt.embedded.controllers.endpoints.slices import MOST, Plan, plan, slices


def a_service(**spec: Any) -> Service:
    whole = {
        "clusterIP": "10.96.0.7",
        "selector": {"app": "web"},
        "ports": [{"name": "http", "port": 80, "targetPort": "serve"}],
        **spec,
    }
    metadata = {"name": "web", "namespace": "default", "uid": "u-1", "labels": {"of": "test"}}
    return msgspec.convert({"metadata": metadata, "spec": whole}, Service)


def a_pod(number: int, *, port: int = 8080, ready: bool = True, **metadata: Any) -> Pod:
    body = {
        "metadata": {
            "name": f"pod-{number}",
            "namespace": "default",
            "uid": f"p-{number}",
            "labels": {"app": "web"},
            **metadata,
        },
        "spec": {
            "nodeName": "node01",
            "containers": [{"ports": [{"name": "serve", "containerPort": port}]}],
        },
        "status": {
            "podIP": f"10.244.{number // 250}.{number % 250 + 1}",
            "conditions": [{"type": "Ready", "status": str(ready)}],
        },
    }
    return msgspec.convert(body, Pod)


def test_what_is_there_is_not_written_again() -> None:
    service, backends = a_service(), behind(a_service(), map(a_pod, range(3)))
    stored = [
        msgspec.json.decode(msgspec.json.encode(each), type=EndpointSlice)
        for each in slices(service, backends)
    ]
    assert plan(service, backends, stored) == Plan(create=[], patch={}, delete=[])
    wanted = legacy.endpoints(service, backends)
    again = msgspec.json.decode(msgspec.json.encode(wanted), type=Endpoints)
    assert legacy.difference(wanted, again) == {}


def test_a_change_of_one_pod_is_one_patch_of_its_endpoints() -> None:
    service = a_service()
    before = slices(service, behind(service, [a_pod(1), a_pod(2)]))
    after = behind(service, [a_pod(1), a_pod(2, ready=False)])
    found = plan(service, after, before)
    assert (found.create, found.delete) == ([], [])
    assert [set(patch) for patch in found.patch.values()] == [{"endpoints"}]


def test_labels_follow_the_service_and_leave_with_it() -> None:
    service = a_service()
    before = slices(service, [])
    metadata = msgspec.structs.replace(service.metadata, labels={"new": "label"})
    found = plan(msgspec.structs.replace(service, metadata=metadata), [], before)
    (patch,) = found.patch.values()
    assert patch["metadata"]["labels"]["of"] is None
    assert patch["metadata"]["labels"]["new"] == "label"


def test_another_port_is_another_slice_and_the_old_one_goes() -> None:
    service = a_service()
    before = slices(service, behind(service, [a_pod(1)]))
    found = plan(service, behind(service, [a_pod(1, port=9090)]), before)
    assert len(found.create) == 1
    assert found.delete == [before[0].metadata.name]


def test_a_service_of_the_same_name_has_slices_of_its_own() -> None:
    service = a_service()
    metadata = msgspec.structs.replace(service.metadata, uid="u-2")
    other = msgspec.structs.replace(service, metadata=metadata)
    names = {each.metadata.name for made in (service, other) for each in slices(made, [])}
    assert len(names) == 2


@given(st.integers(0, 350))
def test_no_slice_holds_more_than_it_may_and_none_is_lost(count: int) -> None:
    service = a_service()
    made = slices(service, behind(service, map(a_pod, range(count))))
    sizes = [len(each.endpoints or ()) for each in made]
    assert sum(sizes) == count
    assert max(sizes) <= MOST
    assert len({each.metadata.name for each in made}) == len(made) == max(1, -(-count // MOST))


def test_a_sidecars_port_counts_and_that_of_an_init_container_does_not() -> None:
    def with_init(policy: str | None) -> Pod:
        body = msgspec.to_builtins(a_pod(1))
        body["spec"]["containers"] = [{}]
        ports = [{"name": "serve", "containerPort": 7070}]
        body["spec"]["initContainers"] = [{"ports": ports, "restartPolicy": policy}]
        return msgspec.convert(body, Pod)

    ports = [behind(a_service(), [with_init(policy)])[0].targets for policy in ("Always", None)]
    assert [[each.port for each in found] for found in ports] == [[7070], []]


def test_an_ending_pod_is_in_slices_and_not_in_endpoints() -> None:
    service = a_service()
    backends = behind(service, [a_pod(1, deletionTimestamp="2026-01-01T00:00:00Z")])
    (made,) = slices(service, backends)
    (endpoint,) = made.endpoints or ()
    assert endpoint.conditions is not None
    assert (endpoint.conditions.ready, endpoint.conditions.terminating) == (False, True)
    assert legacy.endpoints(service, backends).subsets is None
