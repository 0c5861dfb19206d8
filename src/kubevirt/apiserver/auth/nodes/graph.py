"""Which node uses what: a pod that is bound to it names secrets, config maps, claims, an account.

Kept current by pods and volumes as they come and go.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

Object = Mapping[str, Any]
Place = tuple[str, str]
"""Namespace and name."""
Thing = tuple[str, str, str]
"""Resource, namespace, name."""

PODS: Final = "pods"
VOLUMES: Final = "persistentvolumes"
RESOURCES: Final = (PODS, VOLUMES)
_MIRROR: Final = "kubernetes.io/config.mirror"
_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")


class NodeGraph:
    def __init__(self) -> None:
        self._pods: dict[Place, tuple[str, frozenset[Thing]]] = {}
        """The node of each pod, and what the pod uses."""
        self._users: dict[Thing, dict[Place, str]] = {}
        """The pods that use a thing, and their nodes."""
        self._volumes: dict[str, tuple[Thing, frozenset[Thing]]] = {}
        """The claim that has a volume, and the secrets that mounting it takes."""
        self._secrets_of_volumes: dict[Thing, set[str]] = {}

    def observe(self, resource: str, namespace: str, name: str, object_: Object | None) -> None:
        """A pod or a volume is now as given, or gone."""
        if resource == PODS:
            self._put_pod((namespace, name), object_)
        elif resource == VOLUMES:
            self._put_volume(name, object_)
        else:
            raise ValueError(f"{resource} have no part in this")

    def uses(self, node: str, resource: str, namespace: str, name: str) -> bool:
        if resource == VOLUMES:
            found = self._volumes.get(name)
            return found is not None and self._has_user(node, found[0])
        thing = resource, namespace, name
        if self._has_user(node, thing):
            return True
        return any(
            self._has_user(node, self._volumes[volume][0])
            for volume in self._secrets_of_volumes.get(thing, ())
        )

    def node_of(self, namespace: str, pod: str) -> str:
        """Empty if it has none, or is not there."""
        return self._pods.get((namespace, pod), ("", frozenset()))[0]

    def _has_user(self, node: str, thing: Thing) -> bool:
        return node in self._users.get(thing, {}).values()

    def _put_pod(self, place: Place, pod: Object | None) -> None:
        node = (pod.get("spec") or {}).get("nodeName", "") if pod is not None else ""
        used = frozenset(used_by(pod)) if pod is not None and node else frozenset()
        if self._pods.get(place) == (node, used):
            return
        _, before = self._pods.pop(place, ("", frozenset[Thing]()))
        for thing in before:
            users = self._users[thing]
            del users[place]
            if not users:
                del self._users[thing]
        if node:
            self._pods[place] = node, used
            for thing in used:
                self._users.setdefault(thing, {})[place] = node

    def _put_volume(self, name: str, volume: Object | None) -> None:
        _, before = self._volumes.pop(name, (None, frozenset[Thing]()))
        for secret in before:
            volumes = self._secrets_of_volumes[secret]
            volumes.discard(name)
            if not volumes:
                del self._secrets_of_volumes[secret]
        spec = (volume.get("spec") or {}) if volume is not None else {}
        claim = spec.get("claimRef")
        if not claim:
            return
        where = claim.get("namespace", "")
        secrets = frozenset(_secrets_of_volume(spec, where))
        self._volumes[name] = ("persistentvolumeclaims", where, claim.get("name", "")), secrets
        for secret in secrets:
            self._secrets_of_volumes.setdefault(secret, set()).add(name)


def used_by(pod: Object) -> Iterator[Thing]:
    """Itself, and all that it names. What a node itself made up (a mirror pod) names nothing."""
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    namespace = metadata.get("namespace", "")
    yield PODS, namespace, metadata["name"]
    if _MIRROR in (metadata.get("annotations") or {}):
        return
    if account := spec.get("serviceAccountName"):
        yield "serviceaccounts", namespace, account
    for resource, name in named_by(spec, metadata["name"]):
        if name:
            yield resource, namespace, name


def named_by(spec: Object, pod: str) -> Iterator[tuple[str, str]]:
    for each in spec.get("imagePullSecrets") or ():
        yield "secrets", each.get("name", "")
    for kind in _CONTAINERS:
        for container in spec.get(kind) or ():
            yield from _named_by_environment(container)
    for volume in spec.get("volumes") or ():
        yield from _named_by_volume(volume, pod)


def _named_by_environment(container: Object) -> Iterator[tuple[str, str]]:
    for each in container.get("envFrom") or ():
        yield "secrets", (each.get("secretRef") or {}).get("name", "")
        yield "configmaps", (each.get("configMapRef") or {}).get("name", "")
    for each in container.get("env") or ():
        source = each.get("valueFrom") or {}
        yield "secrets", (source.get("secretKeyRef") or {}).get("name", "")
        yield "configmaps", (source.get("configMapKeyRef") or {}).get("name", "")


def _named_by_volume(volume: Object, pod: str) -> Iterator[tuple[str, str]]:
    yield "secrets", (volume.get("secret") or {}).get("secretName", "")
    yield "configmaps", (volume.get("configMap") or {}).get("name", "")
    yield "persistentvolumeclaims", (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
    if volume.get("ephemeral"):
        yield "persistentvolumeclaims", f"{pod}-{volume.get('name', '')}"
    for source in (volume.get("projected") or {}).get("sources") or ():
        yield "secrets", (source.get("secret") or {}).get("name", "")
        yield "configmaps", (source.get("configMap") or {}).get("name", "")
    csi = volume.get("csi") or {}
    yield "secrets", (csi.get("nodePublishSecretRef") or {}).get("name", "")


def _secrets_of_volume(spec: Object, claim_namespace: str) -> Iterator[Thing]:
    csi = spec.get("csi") or {}
    for field in ("nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"):
        secret = csi.get(field)
        if secret and secret.get("name"):
            yield "secrets", secret.get("namespace") or claim_namespace, secret["name"]
