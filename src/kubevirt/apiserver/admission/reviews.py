"""AdmissionReview, as it goes out: the question that a webhook is asked. What comes back is `answers.py`."""

from typing import Any, Final

import msgspec

from kubevirt.apiserver.admission.request import KindName, Request
from kubevirt.apiserver.auth.reviews import user_info

Object = dict[str, Any]

VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"
_encode: Final = msgspec.json.Encoder().encode


def in_version(object_: Object | None, request: Request, version: str) -> Object | None:
    """Conversion changes nothing but the name of the version."""
    if object_ is None or version == request.version:
        return object_
    return {**object_, "apiVersion": request.kind_in(version).api_version}


def described(request: Request, version: str) -> Object:
    """The request of a review, without its objects: what `request` is in matchConditions."""
    found: Object = {
        "kind": _kind(request.kind_in(version)),
        "resource": _resource(request, version),
        "subResource": request.subresource,
        "requestKind": _kind(request.kind),
        "requestResource": _resource(request, request.version),
        "requestSubResource": request.subresource,
        "name": request.name,
        "namespace": request.namespace,
    }
    shown = {name: value for name, value in found.items() if value}
    return {
        "uid": "",
        **shown,
        "operation": request.operation,
        "userInfo": user_info(request.identity),
        "dryRun": request.is_dry_run,
        "options": request.options,
    }


def question(uid: str, request: Request, object_: Object | None, version: str) -> bytes:
    asked = {
        **described(request, version),
        "uid": uid,
        "object": in_version(object_, request, version),
        "oldObject": in_version(request.old, request, version),
    }
    return _encode({"kind": KIND, "apiVersion": VERSION, "request": asked})


def _kind(name: KindName) -> dict[str, str]:
    return {"group": name.group, "version": name.version, "kind": name.kind}


def _resource(request: Request, version: str) -> dict[str, str]:
    return {"group": request.group, "version": version, "resource": request.resource}
