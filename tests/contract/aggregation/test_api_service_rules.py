"""APIServices that make no sense: refused with Kubernetes' causes and words."""

from typing import Any

import msgspec
import pytest
from tests.contract.aggregation.conftest import API_SERVICES, Registry

from kubevirt.kube.errors import ApiError

MERGE = "application/merge-patch+json"
GOOD = {
    "group": "rules.example",
    "version": "v1",
    "groupPriorityMinimum": 1000,
    "versionPriority": 15,
    "service": {"namespace": "default", "name": "nobody"},
}
PRIORITY = "must be positive and less than"


def spec(**changes: Any) -> dict[str, Any]:
    """The good one with changes; None takes a field away."""
    return {name: value for name, value in {**GOOD, **changes}.items() if value is not None}


@pytest.mark.parametrize(
    ("name", "wrong", "causes"),
    [
        (
            "v2.rules.example",
            spec(),
            [
                (
                    "metadata.name",
                    'Invalid value: "v2.rules.example": must be `spec.version+"."+spec.group`: "v1.rules.example"',
                )
            ],
        ),
        (
            "v2.",
            spec(group=None, version="v2"),
            [
                (
                    "spec.group",
                    "Required value: only v1 may have an empty group and it better be legacy kube",
                )
            ],
        ),
        (
            "v1.Rules",
            spec(group="Rules"),
            [
                (
                    "spec.group",
                    "Invalid value: \"Rules\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                )
            ],
        ),
        (
            "1.rules.example",
            spec(version="1"),
            [
                (
                    "spec.version",
                    "Invalid value: \"1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
                )
            ],
        ),
        (
            "v1.rules.example",
            spec(groupPriorityMinimum=20001, versionPriority=1001),
            [
                ("spec.groupPriorityMinimum", f"Invalid value: 20001: {PRIORITY} 20000"),
                ("spec.versionPriority", f"Invalid value: 1001: {PRIORITY} 1000"),
            ],
        ),
        (
            "v1.rules.example",
            spec(groupPriorityMinimum=None, versionPriority=-1),
            [
                ("spec.groupPriorityMinimum", f"Invalid value: 0: {PRIORITY} 20000"),
                ("spec.versionPriority", f"Invalid value: -1: {PRIORITY} 1000"),
            ],
        ),
        (
            "v1.rules.example",
            spec(service={}),
            [
                ("spec.service.namespace", "Required value"),
                ("spec.service.name", "Required value"),
            ],
        ),
        (
            "v1.rules.example",
            spec(service={"namespace": "a", "name": "b", "port": 70000}),
            [
                (
                    "spec.service.port",
                    "Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive",
                )
            ],
        ),
        (
            "v1.rules.example",
            spec(caBundle="YWJj", insecureSkipTLSVerify=True),
            [
                (
                    "spec.insecureSkipTLSVerify",
                    "Invalid value: true: may not be true if caBundle is present",
                )
            ],
        ),
        (
            "v1.rules.example",
            spec(service=None, caBundle="YWJjZA==", insecureSkipTLSVerify=True),
            [
                (
                    "spec.caBundle",
                    'Invalid value: "4 bytes": local APIServices may not have a caBundle',
                ),
                (
                    "spec.insecureSkipTLSVerify",
                    "Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
                ),
            ],
        ),
        (
            "a%b",
            spec(),
            [("metadata.name", "Invalid value: \"a%b\": may not contain '%'")],
        ),
    ],
)
async def test_what_makes_no_sense_is_refused(
    registry: Registry, name: str, wrong: dict[str, Any], causes: list[tuple[str, str]]
) -> None:
    with pytest.raises(ApiError) as caught:
        await registry.client.raw("POST", API_SERVICES, {"metadata": {"name": name}, "spec": wrong})
    status = caught.value.status
    assert (status.code, status.reason) == (422, "Invalid")
    assert status.details
    assert [(each.field, each.message) for each in status.details.causes] == causes


async def test_what_is_left_out_is_filled_in(registry: Registry) -> None:
    group = f"rules.{registry.namespace}.example"
    name = await registry.register(group, 443, service="nobody")
    found = await registry.get(f"{API_SERVICES}/{name}")
    assert found["spec"]["service"]["port"] == 443
    change = {"spec": {"service": {"port": None}}}
    patched = await registry.client.raw(
        "PATCH", f"{API_SERVICES}/{name}", change, content_type=MERGE
    )
    assert msgspec.json.decode(patched)["spec"]["service"]["port"] == 443


async def test_a_new_one_does_not_say_whether_it_is_there(registry: Registry) -> None:
    group = f"rules.{registry.namespace}.example"
    said = {"conditions": [{"type": "Available", "status": "True"}]}
    body = {"metadata": {"name": f"v1.{group}"}, "spec": spec(group=group), "status": said}
    made = await registry.client.raw("POST", API_SERVICES, body, params={"dryRun": "All"})
    assert msgspec.json.decode(made)["status"] == {}


async def test_its_name_and_its_group_stay_together(registry: Registry) -> None:
    name = await registry.register(f"rules.{registry.namespace}.example", 443, "nobody")
    change = {"spec": {"group": "other.example"}}
    with pytest.raises(ApiError) as caught:
        await registry.client.raw("PATCH", f"{API_SERVICES}/{name}", change, content_type=MERGE)
    assert caught.value.status.message == (
        f'APIService.apiregistration.k8s.io "{name}" is invalid: metadata.name: Invalid value: "{name}": '
        'must be `spec.version+"."+spec.group`: "v1.other.example"'
    )


async def test_a_condition_is_true_false_or_unknown(registry: Registry) -> None:
    name = await registry.register(f"rules.{registry.namespace}.example", 443, "nobody")
    change = {"status": {"conditions": [{"type": "Available", "status": "Maybe"}]}}
    with pytest.raises(ApiError) as caught:
        await registry.client.raw(
            "PATCH", f"{API_SERVICES}/{name}/status", change, content_type=MERGE
        )
    assert caught.value.status.message == (
        f'APIService.apiregistration.k8s.io "{name}" is invalid: status.conditions[0].status: Unsupported '
        'value: "Maybe": supported values: "True", "False", "Unknown"'
    )


async def test_an_update_says_of_which_version(registry: Registry) -> None:
    name = await registry.register(f"rules.{registry.namespace}.example", 443, "nobody")
    found = await registry.get(f"{API_SERVICES}/{name}")
    del found["metadata"]["resourceVersion"]
    with pytest.raises(ApiError) as caught:
        await registry.client.raw("PUT", f"{API_SERVICES}/{name}", found)
    assert caught.value.status.message == (
        f'apiservices.apiregistration.k8s.io "{name}" is invalid: metadata.resourceVersion: Invalid value: 0: '
        "must be specified for an update"
    )
