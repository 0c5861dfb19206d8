"""What a pod must be to be run: its specification as a whole."""

import re
from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import INT32, Errors
from kubevirt.apiserver.registry.rules.pods import (
    containers,
    resources,
    scheduling,
    security,
    volumes,
)
from kubevirt.apiserver.registry.rules.pods.defaults import aggregate
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    forbidden,
    invalid,
    required,
)
from kubevirt.base.quantity import Quantity

_RESTARTS: Final = ("Always", "OnFailure", "Never")
_DNS: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_SYSTEMS: Final = ("linux", "windows")
_PREEMPTS: Final = ("PreemptLowerPriority", "Never")
_NAMESERVERS: Final = 3
_SEARCHES: Final = 32
_MIRROR: Final = "kubernetes.io/config.mirror"
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"


def errors(pod: Object) -> list[FieldError]:
    """Of a pod whenever it is written."""
    return [*_annotations(pod), *_spec(pod), *_only_of_pods(pod["spec"])]


def errors_of_new(pod: Object) -> Errors:
    spec = pod["spec"]
    if spec.get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        words = "cannot be set until all schedulingGates have been cleared"
        yield forbidden("spec.nodeName", words)


def _annotations(pod: Object) -> Errors:
    path, said = "metadata.annotations", pod["metadata"].get("annotations") or {}
    if _MIRROR in said and not pod["spec"].get("nodeName"):
        words = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{path}[{_MIRROR}]", said[_MIRROR], words)
    cost = said.get(_DELETION_COST)
    if cost is not None and not _is_int32(cost):
        yield invalid(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer")


def _is_int32(text: str) -> bool:
    if not re.fullmatch(r"-?(0|[1-9]\d{0,9})", text, re.ASCII):
        return False
    return -INT32 - 1 <= int(text) <= INT32


def _spec(pod: Object) -> Errors:
    spec, path = pod["spec"], "spec"
    found, wrong = volumes.volumes(spec, f"{path}.volumes", pod["metadata"].get("name", ""))
    yield from wrong
    around = containers.Surroundings(
        volumes=found,
        claims={each.get("name", "") for each in spec.get("resourceClaims") or []},
        grace_s=spec.get("terminationGracePeriodSeconds"),
        restarts=spec.get("restartPolicy", ""),
        uses_host_users=spec.get("hostUsers") is not False,
        has_os=bool(spec.get("os")),
    )
    yield from containers.running(spec, f"{path}.containers", around)
    yield from containers.before(spec, f"{path}.initContainers", around)
    yield from containers.looking(spec, f"{path}.ephemeralContainers", around)
    yield from _of_whole(spec, path, around)
    yield from _on_host_network(spec, f"{path}.containers")
    yield from _words(spec, path)
    yield from checks.labels(f"{path}.nodeSelector", spec.get("nodeSelector") or {})
    yield from security.of_pod(spec, f"{path}.securityContext")
    yield from scheduling.affinity(spec.get("affinity"), f"{path}.affinity")
    yield from _dns(spec, f"{path}.dnsConfig")
    yield from scheduling.gates(spec, path)
    yield from scheduling.spreading(
        spec.get("topologySpreadConstraints") or [], f"{path}.topologySpreadConstraints"
    )
    yield from security.host_users(spec, path)
    yield from _names(spec, path)
    yield from scheduling.tolerations(spec.get("tolerations") or [], f"{path}.tolerations")
    yield from _aliases(spec.get("hostAliases") or [], f"{path}.hostAliases")
    if overhead := spec.get("overhead"):
        yield from resources.requirements(
            {"limits": overhead}, f"{path}.overhead", set(), resources.of_container
        )


def _words(spec: Object, path: str) -> Errors:
    """Fields that have a few values only, and numbers with bounds."""
    restart, dns = spec.get("restartPolicy", ""), spec.get("dnsPolicy", "")
    yield from checks.one_of(f"{path}.restartPolicy", restart, _RESTARTS, needed="")
    yield from checks.one_of(f"{path}.dnsPolicy", dns, _DNS, needed="")
    if (policy := spec.get("preemptionPolicy")) is not None:
        yield from checks.one_of(f"{path}.preemptionPolicy", policy, _PREEMPTS, needed="")
    if (deadline := spec.get("activeDeadlineSeconds")) is not None:
        yield from checks.within(f"{path}.activeDeadlineSeconds", deadline, 1, INT32)
    if (system := spec.get("os")) is not None:
        yield from checks.one_of(f"{path}.os.name", system.get("name", ""), _SYSTEMS, needed="")


def _names(spec: Object, path: str) -> Errors:
    for field, rule in (
        ("serviceAccountName", names.subdomain),
        ("nodeName", names.subdomain),
        ("hostname", names.label),
        ("subdomain", names.label),
        ("priorityClassName", names.subdomain),
    ):
        if name := spec.get(field):
            yield from checks.named(f"{path}.{field}", name, rule)
    if (runtime := spec.get("runtimeClassName")) is not None:
        yield from checks.named(f"{path}.runtimeClassName", runtime, names.subdomain)


def _of_whole(spec: Object, path: str, around: containers.Surroundings) -> Errors:
    """Resources of the pod, which its containers share."""
    if (whole := spec.get("resources")) is None:
        return
    field = f"{path}.resources"
    if whole.get("claims") is not None:
        yield forbidden(f"{field}.claims", "claims may not be set for Resources at pod-level")
    yield from resources.requirements(whole, field, around.claims, resources.of_pod)
    limits, requests = whole.get("limits") or {}, whole.get("requests") or {}
    for name, asked in aggregate(spec, "requests").items():
        if name in requests and asked > Quantity.parse(requests[name]):
            words = f"must be greater than or equal to aggregate container requests of {asked}"
            yield invalid(f"{field}.requests[{name}]", requests[name], words)
    for at, container in enumerate(spec.get("containers") or []):
        own = (container.get("resources") or {}).get("limits") or {}
        for name in own.keys() & limits.keys():
            if Quantity.parse(own[name]) > Quantity.parse(limits[name]):
                words = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid(f"{field}.containers[{at}][{name}].limits", own[name], words)


def _on_host_network(spec: Object, path: str) -> Errors:
    if not spec.get("hostNetwork"):
        return
    for at, container in enumerate(spec.get("containers") or []):
        for place, port in enumerate(container.get("ports") or []):
            on_host = port.get("hostPort", 0)
            if on_host != port.get("containerPort", 0):
                words = "must match `containerPort` when `hostNetwork` is true"
                yield invalid(f"{path}[{at}].ports[{place}].hostPort", on_host, words)


def _dns(spec: Object, path: str) -> Errors:
    config = spec.get("dnsConfig")
    servers = (config or {}).get("nameservers") or []
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not servers:
            words = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{path}.nameservers", words)
            return
    if config is None:
        return
    if len(servers) > _NAMESERVERS:
        words = f"must not have more than {_NAMESERVERS} nameservers"
        yield invalid(f"{path}.nameservers", servers, words)
    for at, server in enumerate(servers):
        yield from checks.ip_address(f"{path}.nameservers[{at}]", server)
    searches = config.get("searches") or []
    if len(searches) > _SEARCHES:
        words = f"must not have more than {_SEARCHES} search paths"
        yield invalid(f"{path}.searches", searches, words)
    for at, option in enumerate(config.get("options") or []):
        if not option.get("name"):
            yield required(f"{path}.options[{at}]", "must not be empty")


def _aliases(aliases: list[Object], path: str) -> Errors:
    for at, alias in enumerate(aliases):
        yield from checks.ip_address(f"{path}[{at}].ip", alias.get("ip", ""))
        for place, host in enumerate(alias.get("hostnames") or []):
            yield from checks.named(f"{path}[{at}].hostnames[{place}]", host, names.subdomain)


def _only_of_pods(spec: Object) -> Errors:
    """What templates of pods may still be without."""
    if not spec.get("serviceAccountName"):
        for at, volume in enumerate(spec.get("volumes") or []):
            for place, source in enumerate((volume.get("projected") or {}).get("sources") or []):
                if source.get("serviceAccountToken") is not None:
                    field = f"spec.volumes[{at}].projected.sources[{place}].serviceAccountToken"
                    words = "must not be specified when serviceAccountName is not set"
                    yield forbidden(field, words)
    for where in ("containers", "initContainers"):
        for at, container in enumerate(spec.get(where) or []):
            yield from containers.unpadded(container, f"spec.{where}[{at}]")
