"""Where a pod's files come from, and where its containers find them."""

from collections.abc import Callable, Iterable
from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import Errors
from kubevirt.apiserver.registry.rules.pods.environment import (
    IN_FILES,
    field_of_pod,
    resource_of_container,
)
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from kubevirt.base.quantity import Quantity

Volumes = dict[str, Object]
"""The good ones, by name."""

_HOST_PATHS: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_OF_CLAIMS: Final = ("persistentVolumeClaim", "ephemeral")
_SOME_NAME: Final = "name"
_SHORTEST_TOKEN_S: Final = 600


def volumes(spec: Object, path: str, pod: str) -> tuple[Volumes, list[FieldError]]:
    """Those that mounts may name, and what is wrong with the others."""
    found: Volumes = {}
    errors: list[FieldError] = []
    said = spec.get("volumes") or []
    own = {f"{pod}-{each.get('name')}" for each in said if each.get("ephemeral") and pod}
    for at, volume in enumerate(said):
        field, name = f"{path}[{at}]", volume.get("name", "")
        wrong = [*_volume(volume, field, pod)]
        if name in found:
            wrong.append(duplicate(f"{field}.name", name))
        if wrong:
            errors += wrong
        else:
            found[name] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if claim in own:
            words = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{field}.persistentVolumeClaim.claimName", claim, words))
    return found, errors


def _volume(volume: Object, path: str, pod: str) -> Errors:
    sources = [name for name in volume if name != _SOME_NAME]
    ordered = [each for each in _SOURCES if each in sources]
    ordered += [each for each in sources if each not in _SOURCES]
    if not ordered:
        yield required(path, "must specify a volume type")
    for place, kind in enumerate(ordered):
        if place:
            yield forbidden(f"{path}.{kind}", "may not specify more than 1 volume type")
        elif kind in _SOURCES:
            yield from _SOURCES[kind](volume[kind], f"{path}.{kind}")
    name = volume.get("name", "")
    if volume.get("ephemeral") is not None and pod and name:
        for words in names.subdomain(f"{pod}-{name}"):
            yield invalid(f"{path}.name", name, f'PVC name "{pod}-{name}": {words}')
    if name:
        yield from checks.named(f"{path}.name", name, names.label)
    else:
        yield required(f"{path}.name")


# What kinds of volumes demand


def _empty_dir(source: Object, path: str) -> Errors:
    size = source.get("sizeLimit")
    if size is not None and Quantity.parse(size).sign < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def host_path(source: Object, path: str) -> Errors:
    if not (place := source.get("path")):
        yield required(f"{path}.path")
        return
    yield from checks.no_way_up(f"{path}.path", place)
    kind = source.get("type", "")
    if kind not in _HOST_PATHS:
        yield not_supported(f"{path}.type", kind, _HOST_PATHS)


def _secret(source: Object, path: str) -> Errors:
    if not source.get("secretName"):
        yield required(f"{path}.secretName")
    yield from _files(source, path)


def _config_map(source: Object, path: str) -> Errors:
    if not source.get("name"):
        yield required(f"{path}.name")
    yield from _files(source, path)


def _files(source: Object, path: str) -> Errors:
    yield from checks.file_mode(source, path, "defaultMode")
    for at, item in enumerate(source.get("items") or []):
        yield from _key_to_path(item, f"{path}.items[{at}]")


def _key_to_path(item: Object, path: str) -> Errors:
    for name in ("key", "path"):
        if not item.get(name):
            yield required(f"{path}.{name}")
    yield from checks.own_path(f"{path}.path", item.get("path", ""))
    yield from checks.file_mode(item, path, "mode")


def _claim(source: Object, path: str) -> Errors:
    if not source.get("claimName"):
        yield required(f"{path}.claimName")


def _downward(source: Object, path: str) -> Errors:
    yield from checks.file_mode(source, path, "defaultMode")
    for file in source.get("items") or []:
        yield from _downward_file(file, path)


def _downward_file(file: Object, path: str) -> Errors:
    if not file.get("path"):
        yield required(f"{path}.path")
    yield from checks.own_path(f"{path}.path", file.get("path", ""))
    field, resource = file.get("fieldRef"), file.get("resourceFieldRef")
    if field is not None:
        yield from field_of_pod(field, f"{path}.fieldRef", IN_FILES)
        if resource is not None:
            words = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield invalid(path, "resource", words)
    elif resource is not None:
        yield from resource_of_container(resource, f"{path}.resourceFieldRef", in_file=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from checks.file_mode(file, path, "mode")


def _projected(source: Object, path: str) -> Errors:
    yield from checks.file_mode(source, path, "defaultMode")
    taken: set[str] = set()
    for at, each in enumerate(source.get("sources") or []):
        yield from _projection(each, f"{path}.sources[{at}]", path, taken)


def _projection(source: Object, field: str, whole: str, taken: set[str]) -> Errors:
    """Files of one volume, none of which may stand where another does."""
    for kind in ("secret", "configMap"):
        if (found := source.get(kind)) is None:
            continue
        if not found.get("name"):
            yield required(f"{field}.{kind}.name")
        for at, item in enumerate(found.get("items") or []):
            yield from _key_to_path(item, f"{field}.{kind}.items[{at}]")
            yield from _taken(item, whole, taken, shown=found.get("name", ""))
    for file in (source.get("downwardAPI") or {}).get("items") or []:
        yield from _downward_file(file, f"{field}.downwardAPI")
        yield from _taken(file, whole, taken, shown=file.get("path", ""))
    if (token := source.get("serviceAccountToken")) is not None:
        yield from _token(token, f"{field}.serviceAccountToken", whole)
    if len([kind for kind in source if source[kind] is not None]) > 1:
        yield forbidden(field, "may not specify more than 1 volume type per source")


def _taken(file: Object, whole: str, taken: set[str], *, shown: str) -> Errors:
    place = file.get("path", "")
    if place and place in taken:
        yield invalid(whole, shown, "conflicting duplicate paths")
    taken.add(place)


def _token(token: Object, path: str, whole: str) -> Errors:
    seconds = token.get("expirationSeconds", 0)
    if seconds < _SHORTEST_TOKEN_S:
        words = "may not specify a duration less than 10 minutes"
        yield invalid(f"{path}.expirationSeconds", seconds, words)
    if seconds > 1 << 32:
        words = "may not specify a duration larger than 2^32 seconds"
        yield invalid(f"{path}.expirationSeconds", seconds, words)
    if place := token.get("path"):
        yield from checks.own_path(f"{whole}.path", place)
    else:
        yield required(f"{whole}.path")


def nfs(source: Object, path: str) -> Errors:
    for name in ("server", "path"):
        if not source.get(name):
            yield required(f"{path}.{name}")
    if not source.get("path", "").startswith("/"):
        yield invalid(f"{path}.path", source.get("path", ""), "must be an absolute path")


def _csi(source: Object, path: str) -> Errors:
    if not source.get("driver"):
        yield required(f"{path}.driver")


def _ephemeral(source: Object, path: str) -> Errors:
    if source.get("volumeClaimTemplate") is None:
        yield required(f"{path}.volumeClaimTemplate")


def _image(source: Object, path: str) -> Errors:
    if not source.get("reference"):
        yield required(f"{path}.reference")
    policies = ("Always", "IfNotPresent", "Never")
    yield from checks.one_of(
        f"{path}.pullPolicy", source.get("pullPolicy", ""), policies, needed=""
    )


_SOURCES: Final[dict[str, Callable[[Object, str], Errors]]] = {
    "emptyDir": _empty_dir,
    "hostPath": host_path,
    "secret": _secret,
    "nfs": nfs,
    "persistentVolumeClaim": _claim,
    "downwardAPI": _downward,
    "configMap": _config_map,
    "projected": _projected,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
"""In the order in which they are looked at: of two in one volume, the second is too many. Kinds that
only clouds have are taken as they come."""


# In containers

_PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
_READ_ONLY: Final = ("Disabled", "Enabled", "IfPossible")


def mounts(container: Object, path: str, known: Volumes) -> Errors:
    devices = container.get("volumeDevices") or []
    device_names = {each.get("name") for each in devices}
    device_paths = {each.get("devicePath") for each in devices}
    seen: set[str] = set()
    for at, mount in enumerate(container.get("volumeMounts") or []):
        field = f"{path}[{at}]"
        name, place = mount.get("name", ""), mount.get("mountPath", "")
        yield from _known(field, name, known)
        if not place:
            yield required(f"{field}.mountPath")
        if place in seen:
            yield invalid(f"{field}.mountPath", place, "must be unique")
        seen.add(place)
        if name in device_names:
            yield invalid(f"{field}.name", name, "must not already exist in volumeDevices")
        if place in device_paths:
            words = "must not already exist as a path in volumeDevices"
            yield invalid(f"{field}.mountPath", place, words)
        yield from _sub_path(mount, path, field)
        yield from _propagation(mount, container, path)


def _known(field: str, name: str, known: Iterable[str]) -> Errors:
    if not name:
        yield required(f"{field}.name")
    if name not in known:
        yield not_found(f"{field}.name", name)


def _sub_path(mount: Object, whole: str, field: str) -> Errors:
    plain, expression = mount.get("subPath"), mount.get("subPathExpr")
    if plain:
        yield from checks.way_down(f"{whole}.subPath", plain)
    if expression:
        if plain:
            words = "subPathExpr and subPath are mutually exclusive"
            yield invalid(f"{field}.subPathExpr", expression, words)
        yield from checks.way_down(f"{whole}.subPathExpr", expression)


def _propagation(mount: Object, container: Object, whole: str) -> Errors:
    spread = mount.get("mountPropagation")
    if spread is not None:
        field = f"{whole}.mountPropagation"
        yield from checks.one_of(field, spread, _PROPAGATIONS)
        is_privileged = (container.get("securityContext") or {}).get("privileged")
        if spread == "Bidirectional" and not is_privileged:
            words = "Bidirectional mount propagation is available only to privileged containers"
            yield forbidden(field, words)
    deep = mount.get("recursiveReadOnly")
    if deep is None:
        return
    field = f"{whole}.recursiveReadOnly"
    yield from checks.one_of(field, deep, _READ_ONLY)
    if deep in _READ_ONLY[1:]:
        if not mount.get("readOnly"):
            yield forbidden(field, "may only be specified when readOnly is true")
        if spread not in (None, "None"):
            words = "may only be specified when mountPropagation is None or not specified"
            yield forbidden(field, words)


def devices(container: Object, path: str, known: Volumes) -> Errors:
    mounted = container.get("volumeMounts") or []
    mount_names = {each.get("name") for each in mounted}
    mount_paths = {each.get("mountPath") for each in mounted}
    names_seen: set[str] = set()
    paths_seen: set[str] = set()
    for at, device in enumerate(container.get("volumeDevices") or []):
        field = f"{path}[{at}]"
        name, place = device.get("name", ""), device.get("devicePath", "")
        yield from _known(field, name, known)
        if name in names_seen:
            yield invalid(f"{field}.name", name, "must be unique")
        if name in known and not any(known[name].get(kind) for kind in _OF_CLAIMS):
            words = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{field}.name", name, words)
        if not place:
            yield required(f"{field}.devicePath")
        if place in paths_seen:
            yield invalid(f"{field}.devicePath", place, "must be unique")
        if ".." in place.split("/"):
            yield invalid(f"{field}.devicePath", place, "can not contain backsteps ('..')")
        else:
            paths_seen.add(place)
        if name in mount_names:
            yield invalid(f"{field}.name", name, "must not already exist in volumeMounts")
        if place in mount_paths:
            words = "must not already exist as a path in volumeMounts"
            yield invalid(f"{field}.devicePath", place, words)
        names_seen.add(name)
