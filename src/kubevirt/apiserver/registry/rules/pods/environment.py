"""The variables that a container's program finds."""

import re
from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import Errors
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import invalid, not_supported, required

_IN_VARIABLES: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
IN_FILES: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_WITH_KEYS: Final = ("metadata.annotations", "metadata.labels")
_READABLE: Final = {
    *_IN_VARIABLES,
    *IN_FILES,
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
}
_RESOURCES: Final = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE: Final = ("requests.hugepages-", "limits.hugepages-")
_SUBSCRIPT: Final = re.compile(r"(?P<path>.+)\['(?P<key>.*)'\]", re.DOTALL)
_UNITS: Final = ("1", *(f"1{each}{i}" for i in ("", "i") for each in "KMGTPE"), "1k")
_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")


def variables(container: Object, path: str) -> Errors:
    for at, variable in enumerate(container.get("env") or []):
        field, name = f"{path}.env[{at}]", variable.get("name", "")
        if name:
            yield from checks.named(f"{field}.name", name, checks.variable_name)
        else:
            yield required(f"{field}.name")
        if (source := variable.get("valueFrom")) is not None:
            yield from _source(source, f"{field}.valueFrom", bool(variable.get("value")))
    for at, source in enumerate(container.get("envFrom") or []):
        yield from _all_of(source, f"{path}.envFrom[{at}]", f"{path}.envFrom")


def _source(source: Object, path: str, has_value: bool) -> Errors:  # noqa: FBT001
    if (selector := source.get("fieldRef")) is not None:
        yield from field_of_pod(selector, f"{path}.fieldRef", _IN_VARIABLES)
    if (selector := source.get("resourceFieldRef")) is not None:
        yield from resource_of_container(selector, f"{path}.resourceFieldRef", in_file=False)
    for name in _SOURCES[2:]:
        if (selector := source.get(name)) is not None:
            yield from _key(selector, f"{path}.{name}")
    count = sum(source.get(name) is not None for name in _SOURCES)
    if not count:
        words = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
            "`secretKeyRef`"
        )
        yield invalid(path, "", words)
    elif has_value:
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif count > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def _key(selector: Object, path: str) -> Errors:
    yield from checks.named(f"{path}.name", selector.get("name", ""), names.subdomain)
    if key := selector.get("key"):
        yield from checks.named(f"{path}.key", key, checks.config_key)
    else:
        yield required(f"{path}.key")


def _all_of(source: Object, path: str, whole: str) -> Errors:
    if prefix := source.get("prefix"):
        yield from checks.named(f"{path}.prefix", prefix, checks.variable_name)
    found = [name for name in ("configMapRef", "secretRef") if source.get(name) is not None]
    for name in found:
        if of := source[name].get("name"):
            yield from checks.named(f"{path}.{name}.name", of, names.subdomain)
        else:
            yield required(f"{path}.{name}.name")
    if not found:
        yield invalid(whole, "", "must specify one of: `configMapRef` or `secretRef`")
    elif len(found) > 1:
        yield invalid(whole, "", "may not have more than one field specified at a time")


def field_of_pod(selector: Object, path: str, known: tuple[str, ...]) -> Errors:
    if not (wanted := selector.get("fieldPath")):
        yield required(f"{path}.fieldPath")
        return
    subscript = _SUBSCRIPT.fullmatch(wanted)
    if why := _unreadable(wanted, subscript, selector.get("apiVersion", "v1")):
        yield invalid(f"{path}.fieldPath", wanted, f"error converting fieldPath: {why}")
    elif subscript:
        is_annotation = subscript["path"].endswith("annotations")
        key = subscript["key"].lower() if is_annotation else subscript["key"]
        yield from checks.named(path, key, names.qualified)
    elif wanted not in known:
        yield not_supported(f"{path}.fieldPath", wanted, sorted(known))


def _unreadable(wanted: str, subscript: re.Match[str] | None, version: str) -> str:
    if version != "v1":
        return f"unsupported pod version: {version}"
    if subscript and subscript["path"] not in _WITH_KEYS:
        return f"field label does not support subscript: {wanted}"
    if not subscript and wanted not in _READABLE:
        return f"field label not supported: {wanted}"
    return ""


def resource_of_container(selector: Object, path: str, *, in_file: bool) -> Errors:
    resource = selector.get("resource", "")
    if in_file and not selector.get("containerName"):
        yield required(f"{path}.containerName")
    elif not resource:
        yield required(f"{path}.resource")
    elif resource not in _RESOURCES and not resource.startswith(_HUGE):
        yield not_supported(f"{path}.resource", resource, _RESOURCES)
    yield from _divisor(resource, str(selector.get("divisor", "0")), f"{path}.divisor")


def _divisor(resource: str, divisor: str, field: str) -> Errors:
    if divisor == "0":
        return
    units = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
    kind = resource.partition(".")[2]
    if kind == "cpu" and divisor not in ("1m", "1"):
        words = "only divisor's values 1m and 1 are supported with the cpu resource"
        yield invalid(field, resource, words)
    named = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}
    called = "hugepages" if kind.startswith("hugepages-") else named.get(kind, "")
    if called and divisor not in _UNITS:
        words = f"only divisor's values {units} are supported with the {called} resource"
        yield invalid(field, resource, words)
