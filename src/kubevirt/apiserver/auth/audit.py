"""What is written down about a request: who did what to which object, when, and what came of it.

An event of Kubernetes' audit.k8s.io/v1. It never holds a secret: the body of a request is written down only for kinds
that are known to hold none. A custom resource is not one of them (a guest's first password stands in its
definition), nor is the body of an answer. In the path, parameters that are not the API's own lose their values: the
words of an `exec` are the user's.
"""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from kubevirt.apiserver import wire
from kubevirt.apiserver.auth.authentication import Caller
from kubevirt.apiserver.auth.decision import Decision
from kubevirt.apiserver.auth.reviews import user_info
from kubevirt.apiserver.http.asked import Asked

VERSION: Final = "audit.k8s.io/v1"
METADATA: Final = "Metadata"
REQUEST: Final = "Request"
COMPLETE: Final = "ResponseComplete"
_TEXT_LIMIT: Final = 1024
_BODY_LIMIT: Final = 16 << 10
_ANNOTATIONS_LIMIT: Final = 64

_SHOWN: Final = {
    ("", "namespaces"),
    ("", "nodes"),
    ("", "pods/binding"),
    ("", "pods/eviction"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("policy", "poddisruptionbudgets"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
}
"""Kinds whose bodies hold nothing that is secret."""
_WRITES: Final = {"create", "update", "patch", "delete", "deletecollection"}
_OPEN_PARAMETERS: Final = {
    *("allowWatchBookmarks", "container", "continue", "dryRun", "fieldManager", "fieldSelector"),
    *("fieldValidation", "follow", "force", "gracePeriodSeconds", "labelSelector", "limit"),
    *("orphanDependents", "pretty", "previous", "propagationPolicy", "resourceVersion"),
    *("resourceVersionMatch", "sendInitialEvents", "sinceSeconds", "sinceTime", "stderr", "stdin"),
    *("stdout", "tailLines", "timeout", "timeoutSeconds", "timestamps", "tty", "watch"),
}


class Request(msgspec.Struct, kw_only=True):
    """What there is to tell, filled in as the request passes the doors."""

    id: str
    uri: str
    asked: Asked
    received_at: datetime
    caller: Caller | None = None
    source: str = ""
    user_agent: str = ""
    decision: Decision | None = None
    body: bytes | None = None
    annotations: Mapping[str, str] = {}
    """What webhooks want to be known."""


def new_id() -> str:
    return str(uuid.uuid4())


def level(asked: Asked) -> str:
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    is_shown = asked.is_resource and (asked.group, resource) in _SHOWN
    return REQUEST if is_shown and asked.verb in _WRITES else METADATA


def event(
    request: Request, code: int, now: datetime, status: dict[str, Any] | None = None
) -> bytes:
    """One line. `status` is that of a refusal, whose words the client saw too."""
    asked = request.asked
    found: dict[str, Any] = {
        "kind": "Event",
        "apiVersion": VERSION,
        "level": level(asked),
        "auditID": request.id,
        "stage": COMPLETE,
        "requestURI": shown_uri(request.uri),
        "verb": asked.verb,
        "user": user_info(request.caller.real) if request.caller else {},
        "sourceIPs": [request.source] if request.source else None,
        "userAgent": request.user_agent[:_TEXT_LIMIT] or None,
        "objectRef": _reference(asked) if asked.is_resource else None,
        "responseStatus": {"metadata": {}, **_outcome(status), "code": code},
        "requestReceivedTimestamp": _time(request.received_at),
        "stageTimestamp": _time(now),
    }
    if request.caller and request.caller.is_impersonating:
        found["impersonatedUser"] = user_info(request.caller.acting)
    if annotations := _annotations(request):
        found["annotations"] = annotations
    if found["level"] == REQUEST and request.body and len(request.body) <= _BODY_LIMIT:
        found["requestObject"] = _object(request.body)
    return msgspec.json.encode({name: each for name, each in found.items() if each is not None})


def _annotations(request: Request) -> dict[str, str]:
    """Those of webhooks cannot stand in for the server's own."""
    said = list(request.annotations.items())[:_ANNOTATIONS_LIMIT]
    found = {key[:_TEXT_LIMIT]: value[:_TEXT_LIMIT] for key, value in said}
    if request.decision:
        found["authorization.k8s.io/decision"] = "allow" if request.decision.allowed else "forbid"
        found["authorization.k8s.io/reason"] = request.decision.reason[:_TEXT_LIMIT]
    return found


def shown_uri(uri: str) -> str:
    """A path with those parameters that are the API's own; of others only the names."""
    parts = urlsplit(uri)
    if not parts.query:
        return parts.path[:_TEXT_LIMIT]
    shown = [
        (name, value[:_TEXT_LIMIT] if name in _OPEN_PARAMETERS else "-")
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    return f"{parts.path[:_TEXT_LIMIT]}?{urlencode(shown)}"[: 4 * _TEXT_LIMIT]


def _reference(asked: Asked) -> dict[str, str]:
    fields = {
        "resource": asked.resource,
        "namespace": asked.namespace,
        "name": asked.name,
        "apiGroup": asked.group,
        "apiVersion": asked.version,
        "subresource": asked.subresource,
    }
    return {name: value[:_TEXT_LIMIT] for name, value in fields.items() if value}


def _outcome(status: dict[str, Any] | None) -> dict[str, Any]:
    if not status:
        return {}
    shown = {name: status[name] for name in ("status", "message", "reason") if status.get(name)}
    return {name: str(value)[:_TEXT_LIMIT] for name, value in shown.items()}


def _object(body: bytes) -> Any:
    """As it was sent, if it can be read; what was sent to be refused need not be."""
    if body.startswith(wire.MAGIC):
        return _protobuf(body)
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _protobuf(body: bytes) -> Any:
    from kubevirt.apiserver.wire import envelope  # noqa: PLC0415  # see there

    try:
        return envelope.read(body, api_version="", kind="")
    except envelope.Malformed:
        return None


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}"
