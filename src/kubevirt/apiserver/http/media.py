"""Which form an answer takes: what the client accepts, what a kind can be shown as.

    application/json;as=Table;v=v1;g=meta.k8s.io,application/json

is what kubectl sends for `get`: a table if there is one, else the object. The first that can be had wins among
those of the same weight.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

JSON: Final = "application/json"
YAML: Final = "application/yaml"
OFFERED: Final = (JSON, YAML)
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
"""Read, never written: whoever sends it accepts JSON as well."""
META_GROUP: Final = "meta.k8s.io"
APPLY_PATCH: Final = "application/apply-patch+yaml"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
TABLE: Final = "Table"
PARTIAL: Final = "PartialObjectMetadata"
PARTIAL_LIST: Final = "PartialObjectMetadataList"
WHOLE: Final = "Object"
NOTHING: Final = "None"
INCLUDED: Final = ("", "Metadata", WHOLE, NOTHING)


class Form(msgspec.Struct, frozen=True):
    """How an answer is written, and as what."""

    media: str = JSON
    kind: str = ""
    """Table, PartialObjectMetadata or its list; empty for the object itself."""
    version: str = ""
    included: str = ""
    """Of an object, what a row of a table has with it: Metadata (or nothing said), Object, or None."""


class _Offer(msgspec.Struct, frozen=True):
    media: str
    parameters: dict[str, str]
    weight: float


def chosen(accept: str | None, transformed: Iterable[str] = ()) -> Form | None:
    """The form to answer in; None if nothing that is accepted can be had. `transformed` are the kinds
    that the answer can be turned into.
    """
    possible = set(transformed)
    for offer in _offers(accept or JSON):
        kind = offer.parameters.get("as", "")
        if kind and (kind not in possible or not _is_ours(offer.parameters)):
            continue
        media = _media(offer.media)
        if media:
            return Form(media, kind, offer.parameters.get("v", "") if kind else "")
    return None


def _media(wanted: str) -> str:
    if wanted in OFFERED:
        return wanted
    main, _, sub = wanted.partition("/")
    if wanted == "*/*" or (main == "application" and sub == "*"):
        return JSON
    return ""


def _is_ours(parameters: dict[str, str]) -> bool:
    return parameters.get("g") == META_GROUP and parameters.get("v") in {"v1", "v1beta1"}


def _offers(accept: str) -> list[_Offer]:
    """By weight, and in the order they were named."""
    found = [_offer(each) for each in accept.split(",") if each.strip()]
    return sorted((each for each in found if each.weight > 0), key=lambda each: -each.weight)


def _offer(text: str) -> _Offer:
    media, *pairs = (part.strip() for part in text.split(";"))
    parameters = dict(_pair(each) for each in pairs)
    return _Offer(media.lower(), parameters, _weight(parameters.pop("q", "1")))


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip(), value.strip().strip('"')


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
