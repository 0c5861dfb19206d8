"""Pods that are right, and will surprise whoever wrote them. Said when one is made, and never again."""

from collections.abc import Iterable, Iterator
from typing import Final

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.registry.warnings import addresses, labels, overlaps, storage
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.gotext import quoted

_REPLACED: Final = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
    "security.alpha.kubernetes.io/unsafe-sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
}
"""Annotations."""
_SECCOMP: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF: Final = "container.seccomp.security.alpha.kubernetes.io/"
_USE_PROFILE: Final = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_NO_LABEL: Final = (
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior;"
    " a DNS label is recommended"
)
_MATCHES_NONE: Final = "a null labelSelector results in matching no pod"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_KINDS: Final = ("initContainers", "containers", "ephemeralContainers")
_BYTES: Final = ("memory", "ephemeral-storage")

Containers = list[tuple[str, Object]]
"""With their paths."""


def of_pod(new: Object, old: Object | None) -> Iterator[str]:
    if old is not None:
        return
    if wrong := names.label(new["metadata"].get("name", "")):
        yield f"{_NO_LABEL}: [{' '.join(wrong)}]"
    spec = new["spec"]
    said = new["metadata"].get("annotations") or {}
    containers = _containers(spec)
    yield from _of_nodes(spec)
    yield from (
        f"metadata.annotations[{key}]: {_REPLACED[key]}" for key in _REPLACED if key in said
    )
    yield from _of_volumes(spec)
    yield from _of_lists(spec)
    yield from _of_amounts(spec.get("overhead"), "spec.overhead")
    if _SECCOMP in said and not _has_profile(spec):
        yield f"metadata.annotations[{_SECCOMP}]: {_USE_PROFILE}"
    for path, container in containers:
        yield from _of_container(container, path, said)
    yield from _of_ports(containers)
    yield from _of_port_names(containers)
    yield from _of_neighbours(spec)
    for at, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from addresses.of_address(server, f"spec.dnsConfig.nameservers[{at}]")
    for at, alias in enumerate(spec.get("hostAliases") or ()):
        yield from addresses.of_address(alias.get("ip", ""), f"spec.hostAliases[{at}].ip")


def _containers(spec: Object) -> Containers:
    return [
        (f"spec.{kind}[{at}]", each)
        for kind in _KINDS
        for at, each in enumerate(spec.get(kind) or ())
    ]


def _of_nodes(spec: Object) -> Iterator[str]:
    for key in spec.get("nodeSelector") or {}:
        yield from labels.of_key(key, f"spec.nodeSelector[{key}]")
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    path = "spec.affinity.nodeAffinity"
    terms = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    yield from labels.of_terms(terms, f"{path}.{_REQUIRED}.nodeSelectorTerms")
    for at, term in enumerate(affinity.get(_PREFERRED) or ()):
        where = f"{path}.{_PREFERRED}[{at}].preference"
        yield from labels.of_term(term.get("preference") or {}, where, checks_values=True)
    for at, spread in enumerate(spec.get("topologySpreadConstraints") or ()):
        where = f"spec.topologySpreadConstraints[{at}]"
        yield from labels.of_named_key(spread.get("topologyKey", ""), f"{where}.topologyKey")
        if spread.get("labelSelector") is None:
            yield f"{where}.labelSelector: {_MATCHES_NONE}"


def _of_volumes(spec: Object) -> Iterator[str]:
    volumes = spec.get("volumes") or ()
    for at, volume in enumerate(volumes):
        where = f"spec.volumes[{at}]"
        for source, words in storage.GONE.items():
            if volume.get(source) is not None:
                yield f"{where}.{'storageOS' if source == 'storageos' else source}: {words}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template:
            path = f"{where}.ephemeral.volumeClaimTemplate.spec"
            yield from storage.of_claim_spec(template.get("spec") or {}, path)
    for volume in volumes:
        yield from overlaps.of_volume(volume)


def _of_lists(spec: Object) -> Iterator[str]:
    """With the same twice."""
    aliases, secrets = spec.get("hostAliases") or (), spec.get("imagePullSecrets") or ()
    for at in _repeated(each.get("ip", "") for each in aliases):
        yield f"spec.hostAliases[{at}].ip: duplicate ip {quoted(aliases[at].get('ip', ''))}"
    for at in _repeated(each.get("name", "") for each in secrets):
        name = quoted(secrets[at].get("name", ""))
        yield f"spec.imagePullSecrets[{at}].name: duplicate name {name}"
    for at, secret in enumerate(secrets):
        if not secret.get("name"):
            yield f'spec.imagePullSecrets[{at}].name: invalid empty name ""'


def _repeated(words: Iterable[str]) -> Iterator[int]:
    seen = set()
    for at, word in enumerate(words):
        if word in seen:
            yield at
        seen.add(word)


def _of_amounts(amounts: Object | None, path: str) -> Iterator[str]:
    yield from storage.fractions(amounts, path, *_BYTES)


def _has_profile(owner: Object) -> bool:
    return bool((owner.get("securityContext") or {}).get("seccompProfile"))


def _of_container(container: Object, path: str, annotations: Object) -> Iterator[str]:
    key = f"{_SECCOMP_OF}{container.get('name', '')}"
    if key in annotations and not _has_profile(container):
        yield f"metadata.annotations[{key}]: {_USE_PROFILE}"
    resources = container.get("resources") or {}
    for kind in _BYTES:
        for said in ("limits", "requests"):
            yield from storage.fractions(resources.get(said), f"{path}.resources.{said}", kind)
    variables = container.get("env") or ()
    for at in _repeated(each.get("name", "") for each in variables):
        name = variables[at].get("name", "")
        if _hides(variables[at], f"$({name})"):
            words = "which may be dropped when using apply"
            yield f"{path}.env[{at}]: hides previous definition of {quoted(name)}, {words}"


def _hides(variable: Object, reference: str) -> bool:
    """Unless its value is made of the one before."""
    value = variable.get("value") or ""
    return variable.get("valueFrom") is not None or value == reference or reference not in value


def _of_ports(containers: Containers) -> Iterator[str]:
    seen: dict[tuple[int, str], list[tuple[str, Object]]] = {}
    for path, port in _ports(containers):
        if port.get("hostIP") and not port.get("hostPort"):
            yield f"{path}: hostIP set without hostPort: {_as_struct(port)}"
        others = seen.setdefault((port.get("containerPort", 0), port.get("protocol", "TCP")), [])
        for where, other in others:
            if words := _clash(port, other):
                yield f"{path}: {words} port definition with {where}"
        others.append((path, port))


def _ports(containers: Containers) -> Iterator[tuple[str, Object]]:
    for path, container in containers:
        for at, port in enumerate(container.get("ports") or ()):
            yield f"{path}.ports[{at}]", port


def _clash(one: Object, other: Object) -> str:
    ips = [each.get("hostIP", "") for each in (one, other)]
    ports = [each.get("hostPort", 0) for each in (one, other)]
    if ips[0] == ips[1] and ports[0] == ports[1]:
        return "duplicate"
    if 0 in ports:
        return "overlapping"
    if ports[0] == ports[1] and "" in ips:
        return "dangerously ambiguous"
    return ""


def _as_struct(port: Object) -> str:
    """As Go prints it."""
    shown = {
        "Name": port.get("name", ""),
        "HostPort": port.get("hostPort", 0),
        "ContainerPort": port.get("containerPort", 0),
        "Protocol": port.get("protocol", ""),
        "HostIP": port.get("hostIP", ""),
    }
    return "{" + " ".join(f"{name}:{value}" for name, value in shown.items()) + "}"


def _of_port_names(containers: Containers) -> Iterator[str]:
    seen: dict[str, str] = {}
    for path, port in _ports(containers):
        name = port.get("name")
        if not name:
            continue
        if name in seen:
            first = seen[name]
            words = f"services and probes that select ports by name will use {first}"
            yield f"{path}: duplicate port name {quoted(name)} with {first}, {words}"
        else:
            seen[name] = path


def _of_neighbours(spec: Object) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        said = (spec.get("affinity") or {}).get(kind) or {}
        for at, term in enumerate(said.get(_REQUIRED) or ()):
            if term.get("labelSelector") is None:
                yield f"spec.affinity.{kind}.{_REQUIRED}[{at}].labelSelector: {_MATCHES_NONE}"
        for at, weighted in enumerate(said.get(_PREFERRED) or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                path = f"spec.affinity.{kind}.{_PREFERRED}[{at}].podAffinityTerm"
                yield f"{path}.labelSelector: {_MATCHES_NONE}"
