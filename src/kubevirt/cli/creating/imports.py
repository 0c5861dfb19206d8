"""Volumes that are filled before the guest starts: templates of data volumes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kubevirt.cli.creating.draft import Draft, Json
from kubevirt.cli.creating.parameters import Parameters

FLAG: Final = "volume-import"
_COMMON: Final = ("bootorder", "name", "size", "type")

OLD_FLAGS: Final[Mapping[str, str]] = {
    "volume-datasource": "ds",
    "volume-clone-pvc": "pvc",
    "volume-blank": "blank",
}
"""Deprecated ones, and the type that each is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A type of source: its parameters, and the fields that they become."""

    field: str
    fields: Mapping[str, str]
    needed: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()

    def read(self, found: Parameters) -> Json:
        for name in self.needed:
            found.need(name)
        values: Json = {
            field: found.several(name) if name in self.lists else found.get(name)
            for name, field in self.fields.items()
        }
        return {"source": {self.field: {key: value for key, value in values.items() if value}}}


_SECRET: Final = {"secretref": "secretRef"}
_REMOTE: Final = {"url": "url", **_SECRET, "certconfigmap": "certConfigMap"}

SOURCES: Final[Mapping[str, Source]] = {
    "blank": Source(field="blank", fields={}),
    "gcs": Source(field="gcs", fields={"url": "url", **_SECRET}, needed=("url",)),
    "http": Source(
        field="http",
        fields={
            **_REMOTE,
            "extraheaders": "extraHeaders",
            "secretextraheaders": "secretExtraHeaders",
        },
        needed=("url",),
        lists=("extraheaders", "secretextraheaders"),
    ),
    "imageio": Source(
        field="imageio", fields={**_REMOTE, "diskid": "diskId"}, needed=("url", "diskid")
    ),
    "registry": Source(
        field="registry",
        fields={**_REMOTE, "imagestream": "imageStream", "pullmethod": "pullMethod"},
    ),
    "s3": Source(field="s3", fields=_REMOTE, needed=("url",)),
    "vddk": Source(
        field="vddk",
        fields={
            "url": "url",
            "uuid": "uuid",
            "thumbprint": "thumbprint",
            **_SECRET,
            "initimageurl": "initImageURL",
            "backingfile": "backingFile",
        },
        needed=("url", "uuid", "thumbprint", "secretref", "backingfile"),
    ),
}
_CLONED: Final = {"pvc": "claim", "snapshot": "snapshot", "ds": "data source"}
"""Types whose source is an object, which has a size already."""
TYPES: Final = (*SOURCES, *_CLONED)


def add(draft: Draft, given: Sequence[str], chance: Callable[[], str]) -> None:
    """`chance` gives a few letters, for volumes that nobody named."""
    for text in given:
        kind = _type(text)
        found = Parameters(FLAG, text, _known(kind))
        spec = _cloned(kind, found) if kind in _CLONED else _filled(kind, found)
        size = found.size()
        if not size and kind not in _CLONED:
            found.refuse("size is missing")
        storage = {"resources": {"requests": {"storage": size}}} if size else {}
        name = found.get("name") or f"imported-volume-{chance()}"
        draft.add(FLAG, name, {"dataVolume": {"name": name}}, found.boot_order())
        draft.templates.append({"metadata": {"name": name}, "spec": {**spec, "storage": storage}})


def _type(text: str) -> str:
    everything = {name for each in SOURCES.values() for name in each.fields}
    found = Parameters(FLAG, text, {*everything, *_COMMON, "src"})
    kind = found.need("type")
    if kind not in TYPES:
        found.refuse(f"there is no type {kind!r}; there are {', '.join(TYPES)}")
    return kind


def _known(kind: str) -> tuple[str, ...]:
    own = ("src",) if kind in _CLONED else tuple(SOURCES[kind].fields)
    return (*_COMMON, *own)


def _filled(kind: str, found: Parameters) -> Json:
    if kind == "registry":
        if found.get("pullmethod") not in ("", "pod", "node"):
            found.refuse("pullmethod is pod or node")
        if bool(found.get("url")) == bool(found.get("imagestream")):
            found.refuse("either url or imagestream says where the image is")
    return SOURCES[kind].read(found)


def _cloned(kind: str, found: Parameters) -> Json:
    namespace, name = found.place()
    if kind == "ds":
        place = {"namespace": namespace} if namespace else {}
        return {"sourceRef": {"kind": "DataSource", "name": name, **place}}
    if not namespace:
        found.refuse(
            f"the namespace of the {_CLONED[kind]} {name} is missing: src:NAMESPACE/{name}"
        )
    return {"source": {kind: {"name": name, "namespace": namespace}}}
