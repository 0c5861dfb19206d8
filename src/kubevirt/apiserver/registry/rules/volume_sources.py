"""What stands behind a PersistentVolume. Sources that only clouds have are taken as they come."""

from collections.abc import Callable, Mapping
from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import Errors
from kubevirt.apiserver.registry.rules.pods.volumes import host_path, nfs
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import required, too_long

_DRIVER_LIMIT: Final = 63
_SECRETS: Final = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)


def errors(kind: str, source: Object, path: str) -> Errors:
    judge = _JUDGES.get(kind)
    if judge is not None:
        yield from judge(source, path)


def _local(source: Object, path: str) -> Errors:
    if place := source.get("path"):
        yield from checks.no_way_up(f"{path}.path", place)
    else:
        yield required(f"{path}.path")


def _csi(source: Object, path: str) -> Errors:
    driver = source.get("driver", "")
    if not driver:
        yield required(f"{path}.driver")
    if len(driver) > _DRIVER_LIMIT:
        yield too_long(f"{path}.driver", _DRIVER_LIMIT)
    yield from checks.named(f"{path}.driver", driver, lambda name: names.subdomain(name.lower()))
    if not source.get("volumeHandle"):
        yield required(f"{path}.volumeHandle")
    for name in _SECRETS:
        if (secret := source.get(name)) is not None:
            yield from (
                required(f"{path}.{name}.{part}") for part in _PARTS if not secret.get(part)
            )


_PARTS: Final = ("name", "namespace")
_JUDGES: Final[Mapping[str, Callable[[Object, str], Errors]]] = {
    "csi": _csi,
    "hostPath": host_path,
    "local": _local,
    "nfs": nfs,
}
