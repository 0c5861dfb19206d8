"""Parts of specs, and where they stand, for tests of refusals."""

from typing import Any

Case = tuple[dict[str, Any], str, str]
"""A change of the small guest, the field that is wrong, and what is said of it."""

DISKS = "spec.domain.devices.disks"
CARDS = "spec.domain.devices.interfaces"
RESOURCES = "spec.domain.resources"
IMAGE = {"containerDisk": {"image": "example/disk:1"}}
DNS_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def disks(*entries: dict[str, Any], volumes: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    found = volumes or [{"name": name, **IMAGE} for name in sorted({e["name"] for e in entries})]
    return {"domain": {"devices": {"disks": list(entries)}}, "volumes": found}


def volume(**source: Any) -> dict[str, Any]:
    return {"domain": {"devices": {"disks": [{"name": "a"}]}}, "volumes": [{"name": "a", **source}]}


def cards(*entries: dict[str, Any], networks: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    found = networks or [{"name": entry["name"], "pod": {}} for entry in entries[:1]]
    return {"domain": {"devices": {"interfaces": list(entries)}}, "networks": found}


def card(**settings: Any) -> dict[str, Any]:
    return cards({"name": "default", "masquerade": {}, **settings})


def domain(**settings: Any) -> dict[str, Any]:
    return {"domain": settings}


def cloud_init(**settings: Any) -> dict[str, Any]:
    return volume(cloudInitNoCloud=settings)
