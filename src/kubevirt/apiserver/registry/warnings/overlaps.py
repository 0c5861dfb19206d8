"""Volumes of files in which two want to be at one place, or one inside the other."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema.gotext import quoted


class _File(NamedTuple):
    path: str
    source: str

    def __str__(self) -> str:
        return f"{quoted(self.path)} ({self.source})" if self.source else quoted(self.path)


def of_volume(volume: Object) -> Iterator[str]:
    name = quoted(volume.get("name", ""))
    for source, what in _single(volume):
        files = [_File(each.get("path", ""), "") for each in source.get("items") or ()]
        for overlap in _overlaps(files):
            yield f"volume {name} ({what}): overlapping paths: {overlap}"
    if (projected := volume.get("projected")) is None:
        return
    sources = projected.get("sources") or ()
    for source in sources:
        if not source:
            yield f"volume {name} (Projected) has no sources provided"
    for overlap in _overlaps(file for source in sources for file in _projected(source)):
        yield f"volume {name} (Projected): overlapping paths: {overlap}"


def _single(volume: Object) -> Iterator[tuple[Object, str]]:
    if source := volume.get("configMap"):
        yield source, f"ConfigMap {quoted(source.get('name', ''))}"
    if source := volume.get("secret"):
        yield source, f"Secret {quoted(source.get('secretName', ''))}"
    if source := volume.get("downwardAPI"):
        yield source, "DownwardAPI"


def _projected(source: Object) -> Iterator[_File]:
    for field, kind in (("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "")):
        said = source.get(field) or {}
        what = f"{kind} {quoted(said.get('name', ''))}" if kind else "DownwardAPI"
        yield from (_File(each.get("path", ""), what) for each in said.get("items") or ())
    if token := source.get("serviceAccountToken"):
        yield _File(token.get("path", ""), "ServiceAccountToken")
    if bundle := source.get("clusterTrustBundle"):
        name = bundle.get("name") or bundle.get("signerName", "")
        yield _File(bundle.get("path", ""), f"ClusterTrustBundle {quoted(name)}")


def _overlaps(files: Iterable[_File]) -> Iterator[str]:
    seen: list[_File] = []
    for file in files:
        this = file._replace(path=file.path.rstrip("/"))
        yield from (f"{this} with {other}" for other in seen if _meet(this.path, other.path))
        seen.append(this)


def _meet(one: str, other: str) -> bool:
    if not one or not other:
        return False
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
