"""Volumes, claims and classes: what can be asked of storage, and what stays once it is given."""

import posixpath
from typing import Final

from kubevirt.apiserver.registry.rules import checks, volume_sources
from kubevirt.apiserver.registry.rules.checks import Errors
from kubevirt.apiserver.registry.rules.pods.resources import quantity_errors
from kubevirt.apiserver.registry.rules.pods.scheduling import node_selector
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import label_selectors, names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    Verbatim,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from kubevirt.apiserver.schema.gotext import json
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.base.quantity import Quantity

_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES: Final = ("Block", "Filesystem")
_RECLAIMS: Final = ("Delete", "Recycle", "Retain")
_BINDINGS: Final = ("Immediate", "WaitForFirstConsumer")
_STORAGE: Final = "storage"
_NOT_SOURCES: Final = {
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
}
_PARAMETERS: Final = 512
_PARAMETERS_SIZE: Final = 256 << 10


def _access_modes(spec: Object, path: str, needed: str) -> Errors:
    modes = spec.get("accessModes") or []
    if not modes:
        yield required(path, needed)
    for mode in modes:
        if mode not in _MODES:
            yield not_supported(path, mode, _MODES)
    known = {mode for mode in modes if mode in _MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _volume_mode(spec: Object) -> Errors:
    mode = spec.get("volumeMode")
    if mode is not None and mode not in _VOLUME_MODES:
        yield not_supported("spec.volumeMode", mode, _VOLUME_MODES)


def _fixed_mode(new: Object, old: Object) -> Errors:
    after, before = new["spec"].get("volumeMode"), old["spec"].get("volumeMode")
    if after != before:
        yield invalid("volumeMode", after, "field is immutable")


class VolumeRules(Rules):
    def __init__(self) -> None:
        super().__init__(is_returned_when_deleted=True)

    def defaulted(self, object_: Object) -> Object:
        said: Object = object_.get("spec") or {}
        spec = {
            "persistentVolumeReclaimPolicy": "Retain",
            "volumeMode": "Filesystem",
            **said,
        }
        if said.get("hostPath") is not None:
            spec["hostPath"] = {"type": "", **said["hostPath"]}
        return {**object_, "spec": spec}

    def prepared(self, object_: Object) -> Object:
        since = object_["metadata"]["creationTimestamp"]
        return {**object_, "status": {"phase": "Pending", "lastPhaseTransitionTime": since}}

    def errors(self, object_: Object) -> list[FieldError]:
        return list(self._errors(object_["spec"]))

    def _errors(self, spec: Object) -> Errors:
        yield from _access_modes(spec, "spec.accessModes", "")
        yield from self._capacity(spec.get("capacity") or {})
        policy = spec.get("persistentVolumeReclaimPolicy", "")
        yield from checks.one_of("spec.persistentVolumeReclaimPolicy", policy, _RECLAIMS)
        affinity = spec.get("nodeAffinity")
        if affinity is not None:
            if (wanted := affinity.get("required")) is None:
                words = "must specify required node constraints"
                yield required("spec.nodeAffinity.required", words)
            else:
                yield from node_selector(wanted, "spec.nodeAffinity.required")
        sources = [name for name in spec if name not in _NOT_SOURCES]
        if not sources:
            yield required("spec", "must specify a volume type")
        for name in sources[:1]:
            yield from volume_sources.errors(name, spec[name], f"spec.{name}")
        for name in sources[1:]:
            yield forbidden(f"spec.{name}", "may not specify more than 1 volume type")
        if policy == "Recycle" and _is_root(spec.get("hostPath")):
            words = "may not be 'recycle' for a hostPath mount of '/'"
            yield forbidden("spec.persistentVolumeReclaimPolicy", words)
        if "local" in sources and affinity is None:
            yield required("spec.nodeAffinity", "Local volume requires node affinity")
        if class_name := spec.get("storageClassName"):
            yield from checks.named("spec.storageClassName", class_name, names.subdomain)
        yield from _volume_mode(spec)

    def _capacity(self, capacity: Object) -> Errors:
        path = "spec.capacity"
        if not capacity:
            yield required(path)
        if set(capacity) != {_STORAGE}:
            shown = Verbatim(json(capacity) if capacity else "null")
            yield not_supported(path, shown, [_STORAGE])
        for name, text in capacity.items():
            quantity = Quantity.parse(text)
            field = f"{path}[{name}]"
            if quantity.sign < 0:
                yield invalid(field, quantity.value(), "must be a valid resource quantity")
            if quantity.sign <= 0:
                yield invalid(field, str(quantity), "must be greater than zero")

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = self.errors(new)
        after, before = (
            {name: value for name, value in each["spec"].items() if name not in _NOT_SOURCES}
            for each in (new, old)
        )
        if not is_same(after, before):
            words = "spec.persistentvolumesource is immutable after creation\n"
            found.append(forbidden("spec.persistentvolumesource", words))
        affinity, before = (each["spec"].get("nodeAffinity") for each in (new, old))
        if before is not None and not is_same(affinity, before):
            words = "field is immutable, except for updating from beta label to GA"
            found.append(invalid("nodeAffinity", _as_go(affinity), words))
        return found + list(_fixed_mode(new, old))


def _is_root(source: Object | None) -> bool:
    return source is not None and posixpath.normpath(source.get("path") or ".").strip("/") == ""


def _as_go(affinity: Object | None) -> Verbatim:
    """As the server's own types are printed, which have no names for JSON."""
    if affinity is None:
        return Verbatim("null")
    terms = ((affinity.get("required") or {}).get("nodeSelectorTerms")) or []
    shown = [
        {
            name[0].upper() + name[1:]: _parts(term.get(name))
            for name in ("matchExpressions", "matchFields")
        }
        for term in terms
    ]
    return Verbatim(json({"Required": {"NodeSelectorTerms": shown}}))


def _parts(expressions: list[Object] | None) -> list[Object] | None:
    if expressions is None:
        return None
    return [
        {
            "Key": each.get("key", ""),
            "Operator": each.get("operator", ""),
            "Values": each.get("values"),
        }
        for each in expressions
    ]


class ClaimRules(Rules):
    def __init__(self) -> None:
        super().__init__(is_returned_when_deleted=True, first_status={"phase": "Pending"})

    def defaulted(self, object_: Object) -> Object:
        spec = {"volumeMode": "Filesystem", **(object_.get("spec") or {})}
        source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
        if source is not None and reference is None and not _is_copied(source):
            # The older field never took anything else, and says so by forgetting it.
            del spec["dataSource"]
        elif source is not None and reference is None:
            # The newer field says the same, for those who read only that.
            spec["dataSourceRef"] = source
        elif source is None and reference is not None and not reference.get("namespace"):
            spec["dataSource"] = reference
        return {**object_, "spec": spec}

    def errors(self, object_: Object) -> list[FieldError]:
        return list(self._errors(object_["spec"]))

    def _errors(self, spec: Object) -> Errors:
        needed = "at least 1 access mode is required"
        yield from _access_modes(spec, "spec.accessModes", needed)
        yield from label_selectors.errors(spec.get("selector") or {}, "spec.selector")
        yield from self._size(spec)
        if name := spec.get("storageClassName"):
            yield from checks.named("spec.storageClassName", name, names.subdomain)
        yield from _volume_mode(spec)
        for name in ("dataSource", "dataSourceRef"):
            if (source := spec.get(name)) is not None:
                yield from self._source(source, f"spec.{name}")

    def _size(self, spec: Object) -> Errors:
        field = f"spec.resources[{_STORAGE}]"
        text = ((spec.get("resources") or {}).get("requests") or {}).get(_STORAGE)
        if text is None:
            yield required(field)
            return
        quantity = Quantity.parse(text)
        if quantity.sign <= 0:
            yield invalid(field, str(quantity), "must be greater than zero")
        else:
            yield from quantity_errors(field, _STORAGE, quantity)

    def _source(self, source: Object, path: str) -> Errors:
        for name in ("name", "kind"):
            if not source.get(name):
                yield required(f"{path}.{name}")
        group = source.get("apiGroup")
        if not group and source.get("kind") != "PersistentVolumeClaim":
            words = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
            yield invalid(path, source.get("kind", ""), words)
        if group:
            yield from checks.named(f"{path}.apiGroup", group, names.subdomain)

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        return self.errors(new) + list(self._changes(new, old))

    def _changes(self, new: Object, old: Object) -> Errors:
        after, before = dict(new["spec"]), dict(old["spec"])
        if not before.get("volumeName"):
            before["volumeName"] = after.get("volumeName")
        if before.get("storageClassName") is None:
            after.pop("storageClassName", None)
        size_after, size_before = _size_of(new), _size_of(old)
        if (old.get("status") or {}).get("phase") == "Bound":
            after["resources"] = before.get("resources")
            after["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
        if not is_same(_present(after), _present(before)):
            words = (
                "spec is immutable after creation except resources.requests and "
                "volumeAttributesClassName for bound claims\n"
            )
            yield forbidden("spec", words)
        given = ((old.get("status") or {}).get("capacity") or {}).get(_STORAGE, "0")
        if size_after < size_before and size_after <= Quantity.parse(given):
            words = "field can not be less than status.capacity"
            yield forbidden("spec.resources.requests.storage", words)
        yield from _fixed_mode(new, old)


def _is_copied(source: Object) -> bool:
    kind = (source.get("apiGroup") or "", source.get("kind"))
    return kind in (
        ("", "PersistentVolumeClaim"),
        ("snapshot.storage.k8s.io", "VolumeSnapshot"),
    )


def _size_of(claim: Object) -> Quantity:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return Quantity.parse(requests.get(_STORAGE, "0"))


def _present(spec: Object) -> Object:
    return {name: value for name, value in spec.items() if value is not None}


class StorageClassRules(Rules):
    def __init__(self) -> None:
        super().__init__(is_returned_when_deleted=True)

    def defaulted(self, object_: Object) -> Object:
        return {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate", **object_}

    def errors(self, object_: Object) -> list[FieldError]:
        return list(self._errors(object_))

    def _errors(self, object_: Object) -> Errors:
        if provisioner := object_.get("provisioner"):
            yield from checks.named("provisioner", provisioner.lower(), names.qualified)
        else:
            yield required("provisioner")
        parameters = object_.get("parameters") or {}
        if len(parameters) > _PARAMETERS:
            yield too_long("parameters", _PARAMETERS)
        elif sum(len(k) + len(v) for k, v in parameters.items()) > _PARAMETERS_SIZE:
            yield too_long("parameters", _PARAMETERS_SIZE)
        if "" in parameters:
            yield invalid("parameters", "", "field can not be empty.")
        if policy := object_.get("reclaimPolicy"):
            yield from checks.one_of("reclaimPolicy", policy, ("Delete", "Retain"))
        mode = object_.get("volumeBindingMode", "")
        yield from checks.one_of("volumeBindingMode", mode, _BINDINGS)
        yield from _topologies(object_.get("allowedTopologies") or [])

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = [
            forbidden(name, f"updates to {name} are forbidden.")
            for name in ("parameters", "provisioner", "reclaimPolicy")
            if not is_same(new.get(name) or {}, old.get(name) or {})
        ]
        mode = new.get("volumeBindingMode")
        if mode != old.get("volumeBindingMode"):
            found.append(invalid("volumeBindingMode", mode, "field is immutable"))
        return found


def _topologies(terms: list[Object]) -> Errors:
    seen: list[dict[str, set[str]]] = []
    for at, term in enumerate(terms):
        path = f"allowedTopologies[{at}].matchLabelExpressions"
        found: dict[str, set[str]] = {}
        for index, expression in enumerate(term.get("matchLabelExpressions") or ()):
            yield from _expression(expression, f"{path}[{index}]")
            key = expression.get("key", "")
            if key in found:
                yield duplicate(f"{path}[{index}].key", key)
            found[key] = set(expression.get("values") or ())
        if found in seen:
            yield duplicate(path, "")
        seen.append(found)


def _expression(expression: Object, path: str) -> Errors:
    values = expression.get("values") or []
    if not values:
        yield required(f"{path}.values")
    for at, value in enumerate(values):
        if value in values[:at]:
            yield duplicate(f"{path}.values[{at}]", value)
    yield from checks.named(f"{path}.key", expression.get("key", ""), names.qualified)
