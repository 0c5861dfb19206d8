"""What a user hands in: one instance to run, and the ConfigMaps and Secrets that it names.

The instance may come as a VirtualMachineInstance, or as the template of a VirtualMachine. Types are
checked as an API server would; fields that nobody knows are told, not refused, since a newer KubeVirt may.
"""

import base64
import binascii
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from kubevirt.api.core.namespace import ConfigMap, Secret
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.components.launcher.standalone.documents import Document, ManifestError, documents
from kubevirt.virt.annotations import HOOK_SIDECARS
from kubevirt.virt.validate.labels import label_trouble

VERSIONS: Final = ("kubevirt.io/v1", "kubevirt.io/v1alpha3")
NAMESPACE: Final = "default"

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_AT: Final = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)

T = TypeVar("T", bound=msgspec.Struct)
Files = Mapping[str, bytes]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    vmi: VirtualMachineInstance
    config_maps: Mapping[str, Files]
    """Contents by name."""
    secrets: Mapping[str, Files]
    warnings: tuple[str, ...] = ()


def read(text: str, source: str) -> Manifest:
    """`source` is what to call the text in a sentence: a file's name, a variable's."""
    found = documents(text, source)
    document = _instance_document(found, source)
    if document["kind"] == "VirtualMachine":
        machine = _typed(document, VirtualMachine, source)
        vmi = _named(_instance_of(machine, source), source)
        unknown = _unknown(document, machine)
    else:
        instance = _typed(document, VirtualMachineInstance, source)
        vmi, unknown = _named(instance, source), _unknown(document, instance)
    _refuse_hooks(vmi, source)
    _check_hostname(vmi, source)
    beside = [each for each in found if each is not document]
    return Manifest(
        vmi=vmi,
        config_maps=dict(_config_maps(beside, vmi, source)),
        secrets=dict(_secrets(beside, vmi, source)),
        warnings=tuple(f"{source}: {path} is unknown" for path in unknown),
    )


def _instance_document(found: Sequence[Document], source: str) -> Document:
    for document in found:
        if document.get("kind") in {"VirtualMachine", "VirtualMachineInstance"}:
            version = document.get("apiVersion")
            if version not in VERSIONS:
                raise ManifestError(
                    f"{source} has a {document['kind']} of apiVersion {version!r:.60}; "
                    f"use {' or '.join(VERSIONS)}"
                )
            return document
    kinds = ", ".join(sorted({str(each.get("kind")) for each in found})) or "nothing"
    raise ManifestError(
        f"{source} has no VirtualMachineInstance and no VirtualMachine, only: {ascii(kinds)[1:-1]:.200}"
    )


def _typed(document: Document, kind: type[T], source: str) -> T:
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        what, path = _AT.fullmatch(str(error)).group("what", "path")  # type: ignore[union-attr]  # matches all
        place = (path or "").lstrip(".") or "the object"
        raise ManifestError(
            f"{source}: {place} is wrong: {what[:1].lower()}{what[1:]}".replace("`", "")
        ) from None


def _instance_of(machine: VirtualMachine, source: str) -> VirtualMachineInstance:
    """What virt-controller makes of a machine."""
    spec = machine.spec
    if spec.instancetype or spec.preference:
        what = "instancetype" if spec.instancetype else "preference"
        raise ManifestError(
            f"{source}: spec.{what} names an object of a cluster, and there is none here; "
            f"write cpu and memory into spec.template.spec.domain"
        )
    template = spec.template
    if template.spec is None:
        raise ManifestError(f"{source}: spec.template.spec is missing; it says what to run")
    metadata = replace(
        template.metadata, name=machine.metadata.name, namespace=machine.metadata.namespace
    )
    return VirtualMachineInstance(metadata=metadata, spec=template.spec)


def _named(vmi: VirtualMachineInstance, source: str) -> VirtualMachineInstance:
    """With all that an API server gives an object: a namespace and a UID."""
    metadata = vmi.metadata
    name, namespace = metadata.name or "", metadata.namespace or NAMESPACE
    for field, value in (("name", name), ("namespace", namespace)):
        if not _NAME.fullmatch(value):
            raise ManifestError(
                f"{source}: metadata.{field} {value!r:.60} is no name; use lower-case letters, "
                f"digits, dashes and dots, a letter or digit first and last"
            )
    metadata = replace(metadata, namespace=namespace, uid=metadata.uid or str(uuid.uuid4()))
    return replace(vmi, api_version=VERSIONS[0], kind="VirtualMachineInstance", metadata=metadata)


def _refuse_hooks(vmi: VirtualMachineInstance, source: str) -> None:
    """They change the domain, so a guest without them would not be the one that was asked for."""
    if HOOK_SIDECARS in vmi.metadata.annotations:
        raise ManifestError(
            f"{source}: the annotation {HOOK_SIDECARS} wants containers beside the launcher, and there are "
            f"none without a cluster; remove it"
        )


def _check_hostname(vmi: VirtualMachineInstance, source: str) -> None:
    """It becomes that of the sandbox, and a line of its /etc/hosts."""
    hostname = vmi.spec.hostname
    if hostname and (trouble := label_trouble(hostname)):
        raise ManifestError(f"{source}: spec.hostname {hostname!r:.60} is no host name: {trouble}")


def _config_maps(
    found: Sequence[Document], vmi: VirtualMachineInstance, source: str
) -> Iterator[tuple[str, Files]]:
    for document in _of_kind(found, "ConfigMap", vmi):
        each = _typed(document, ConfigMap, source)
        what = f"ConfigMap {each.metadata.name}"
        binary = {key: _binary(text, key, what, source) for key, text in each.binary_data.items()}
        text = {key: value.encode() for key, value in each.data.items()}
        yield each.metadata.name or "", {**binary, **text}


def _secrets(
    found: Sequence[Document], vmi: VirtualMachineInstance, source: str
) -> Iterator[tuple[str, Files]]:
    for document in _of_kind(found, "Secret", vmi):
        each = _typed(document, Secret, source)
        what = f"Secret {each.metadata.name}"
        binary = {key: _binary(text, key, what, source) for key, text in each.data.items()}
        text = {key: value.encode() for key, value in each.string_data.items()}
        yield each.metadata.name or "", {**binary, **text}


def _of_kind(
    found: Sequence[Document], kind: str, vmi: VirtualMachineInstance
) -> Iterator[Document]:
    """Objects without a namespace are meant for the instance's."""
    for document in found:
        metadata = document.get("metadata")
        place = metadata.get("namespace") if isinstance(metadata, dict) else None
        if document.get("kind") == kind and place in (None, vmi.metadata.namespace):
            yield document


def _binary(text: str, key: str, what: str, source: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)  # YAML folds long lines
    except (binascii.Error, ValueError):
        raise ManifestError(
            f"{source}: {key} of {what} is no base64; plain text belongs in "
            f"{'stringData' if what.startswith('Secret') else 'data'}"
        ) from None


def _unknown(raw: Any, decoded: Any, path: str = "") -> Iterator[str]:
    """Paths of what was written and not understood: the raw data and the typed value, side by side."""
    if isinstance(decoded, msgspec.Struct) and isinstance(raw, dict):
        names = dict(zip(decoded.__struct_encode_fields__, decoded.__struct_fields__, strict=True))
        for key, value in raw.items():
            place = f"{path}.{key}" if path else key
            if key in names:
                yield from _unknown(value, getattr(decoded, names[key]), place)
            else:
                yield place
    elif isinstance(decoded, tuple | list) and isinstance(raw, list):
        for index, (value, its) in enumerate(zip(raw, decoded, strict=False)):
            yield from _unknown(value, its, f"{path}[{index}]")
    elif isinstance(decoded, Mapping) and isinstance(raw, dict):
        for key, value in raw.items():
            yield from _unknown(value, decoded.get(key), f"{path}.{key}")
