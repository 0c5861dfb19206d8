"""What is served, told to the API server and to people: made from the table of calls and from nothing else."""

from typing import Any, Final

from kubevirt.virt.commands.calls import (
    BUILT,
    EXPAND,
    GROUP,
    INSTANCES,
    MACHINES,
    VERSIONS,
    Call,
)

Json = dict[str, Any]

KINDS: Final = {
    MACHINES: "VirtualMachine",
    INSTANCES: "VirtualMachineInstance",
    EXPAND: "VirtualMachine",
}
LEGACY_NAME: Final = "subresource.kubevirt.io"
"""What KubeVirt's own document calls the group, one letter short; some read it there."""


def kind_of(call: Call) -> str:
    return KINDS[call.resource]


def roots() -> Json:
    below = [f"/apis/{GROUP}/{each}" for each in VERSIONS]
    others = ["/healthz", "/metrics", "/openapi/v2", "/openapi/v3"]
    return {"paths": ["/apis", f"/apis/{GROUP}", *below, *others]}


def groups() -> Json:
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(GROUP)]}


def group() -> Json:
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(LEGACY_NAME)}


def _group(name: str) -> Json:
    versions = [{"groupVersion": f"{GROUP}/{each}", "version": each} for each in VERSIONS]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def resources(version: str) -> Json:
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{GROUP}/{version}",
        "resources": [
            {
                "name": each.name,
                "singularName": "",
                "namespaced": True,
                "kind": kind_of(each),
                "verbs": [each.verb],
            }
            for each in BUILT
        ],
    }


def aggregated() -> Json:
    """All in one document, as newer servers ask for it."""
    versions = [
        {"version": each, "freshness": "Current", "resources": _resources()} for each in VERSIONS
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [{"metadata": {"name": GROUP, "creationTimestamp": None}, "versions": versions}],
    }


def _resources() -> list[Json]:
    """Of every version: all have the same."""
    found: dict[str, Json] = {}
    for call in BUILT:
        kind = {"group": "", "version": "", "kind": kind_of(call)}
        resource = found.setdefault(
            call.resource,
            {
                "resource": call.resource,
                "responseKind": kind,
                "scope": "Namespaced",
                "singularResource": "",
                "verbs": [],
            },
        )
        if call.subresource:
            below = {"subresource": call.subresource, "responseKind": kind, "verbs": [call.verb]}
            resource.setdefault("subresources", []).append(below)
        else:
            resource["verbs"] = [call.verb]
    return list(found.values())
