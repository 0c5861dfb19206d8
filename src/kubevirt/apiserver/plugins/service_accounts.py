"""ServiceAccount: every pod has one, and its token is where programs look for it."""

from typing import Any, Final

from kubevirt.apiserver import refusals
from kubevirt.apiserver.plugins.lookup import Lookup
from kubevirt.apiserver.registry.admission import Review
from kubevirt.apiserver.registry.chance import Chance

Object = dict[str, Any]

DEFAULT: Final = "default"
MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
VOLUME: Final = "kube-api-access-"
MIRROR: Final = "kubernetes.io/config.mirror"
_WAIT_S: Final = 2.0
"""For the default account of a namespace that was made a moment ago."""
_SOURCE: Final[Object] = {
    "sources": [
        # A little more than an hour: whoever reads it once an hour never meets it expired.
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {
            "configMap": {
                "name": "kube-root-ca.crt",
                "items": [{"key": "ca.crt", "path": "ca.crt"}],
            }
        },
        {
            "downwardAPI": {
                "items": [
                    {
                        "path": "namespace",
                        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                    }
                ]
            }
        },
    ],
    "defaultMode": 0o644,
}


class ServiceAccounts:
    def __init__(self, lookup: Lookup, chance: Chance) -> None:
        self._lookup = lookup
        self._chance = chance

    async def mutate(self, object_: Object, review: Review) -> Object:
        call = review.call
        if (call.kind.group_resource, call.subresource) != ("pods", ""):
            return object_
        if review.operation != "CREATE":
            return object_
        if MIRROR in (object_["metadata"].get("annotations") or {}):
            return object_
        spec = object_["spec"]
        name = spec.get("serviceAccountName") or DEFAULT
        account = await self._account(name, object_, review)
        spec = {**spec, "serviceAccountName": name, "serviceAccount": name}
        if _mounts_token(spec, account):
            spec = self._with_token(spec)
        secrets = [{"name": each["name"]} for each in account.get("imagePullSecrets") or []]
        if secrets and not spec.get("imagePullSecrets"):
            spec["imagePullSecrets"] = secrets
        return {**object_, "spec": spec}

    async def validate(self, object_: Object | None, review: Review) -> None:
        call = review.call
        if (call.kind.group_resource, call.subresource) != ("pods", "") or object_ is None:
            return
        if review.operation != "CREATE" or object_["spec"].get("serviceAccountName"):
            return
        if MIRROR in (object_["metadata"].get("annotations") or {}):
            return
        name = object_["metadata"].get("name", "")
        words = f"no service account specified for pod {call.namespace}/{name}"
        raise refusals.forbidden(call.kind, name, words)

    async def _account(self, name: str, pod: Object, review: Review) -> Object:
        call = review.call
        if name == DEFAULT:
            found = await self._lookup.awaited(
                "serviceaccounts", call.namespace, name, limit_s=_WAIT_S
            )
        else:
            found = await self._lookup.get("", "serviceaccounts", call.namespace, name)
        if found is None:
            words = (
                f"error looking up service account {call.namespace}/{name}: "
                f'serviceaccount "{name}" not found'
            )
            raise refusals.forbidden(call.kind, pod["metadata"].get("name", ""), words)
        return found

    def _with_token(self, spec: Object) -> Object:
        """Mounted in every container that has nothing else at its place."""
        volumes = spec.get("volumes") or []
        present = [each["name"] for each in volumes if each.get("name", "").startswith(VOLUME)]
        name = present[0] if present else VOLUME + self._chance.suffix()
        mount = {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}
        is_needed = False
        for place in ("initContainers", "containers"):
            if not (containers := spec.get(place)):
                continue
            mounted = [_mounted(each, mount) for each in containers]
            is_needed |= any(a is not b for a, b in zip(mounted, containers, strict=True))
            spec = {**spec, place: mounted}
        if is_needed and not present:
            spec = {**spec, "volumes": [*volumes, {"name": name, "projected": _SOURCE}]}
        return spec


def _mounts_token(spec: Object, account: Object) -> bool:
    own: bool | None = spec.get("automountServiceAccountToken")
    return own if own is not None else bool(account.get("automountServiceAccountToken", True))


def _mounted(container: Object, mount: Object) -> Object:
    mounts = container.get("volumeMounts") or []
    if any(each.get("mountPath") == MOUNT_PATH for each in mounts):
        return container
    return {**container, "volumeMounts": [*mounts, mount]}
