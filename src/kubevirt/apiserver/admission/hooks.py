"""A webhook, compiled from its configuration: whom to ask about what, and how."""

from base64 import b64decode
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kubevirt.apiserver.admission.conditions import Condition, Conditions
from kubevirt.apiserver.callees.callee import HTTPS_PORT, Callee
from kubevirt.apiserver.schema.label_selectors import Selects, compile_selector

Object = dict[str, Any]


class Rule(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    operations: tuple[str, ...] = ()
    groups: tuple[str, ...] = msgspec.field(default=(), name="apiGroups")
    versions: tuple[str, ...] = msgspec.field(default=(), name="apiVersions")
    resources: tuple[str, ...] = ()
    scope: str = "*"


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    configuration: str
    id: str
    """Of it among all webhooks of all configurations."""
    rules: tuple[Rule, ...]
    is_exact: bool
    """Whether other versions of a resource are none of its business."""
    selects_namespace: Selects | None
    selects_object: Selects | None
    conditions: Conditions
    fails_open: bool
    timeout_s: float
    has_side_effects: bool
    """Also in a dry run, which it therefore must not see."""
    is_repeated: bool
    """Whether it wants to see what others made of an object after it."""
    speaks_v1: bool
    callee: Callee
    path: str


class _Service(msgspec.Struct):
    namespace: str
    name: str
    path: str = ""
    port: int = HTTPS_PORT


class _ClientConfig(msgspec.Struct, rename="camel"):
    url: str = ""
    service: _Service | None = None
    ca_bundle: str = ""


class _Webhook(msgspec.Struct, kw_only=True, rename="camel"):
    name: str
    client_config: _ClientConfig
    rules: tuple[Rule, ...] = ()
    failure_policy: str = "Fail"
    match_policy: str = "Equivalent"
    namespace_selector: Object | None = None
    object_selector: Object | None = None
    side_effects: str = "Unknown"
    timeout_seconds: int = 10
    admission_review_versions: tuple[str, ...] = ()
    match_conditions: tuple[Condition, ...] = ()
    reinvocation_policy: str = "Never"


class _Configuration(msgspec.Struct):
    webhooks: tuple[_Webhook, ...] = ()


_decode = msgspec.json.Decoder(_Configuration).decode


def hooks_of(configuration: str, value: bytes) -> Iterator[Hook]:
    """Those of a stored configuration. Raises `msgspec.ValidationError` for one that was stored in other
    times.
    """
    seen: dict[str, int] = {}
    for said in _decode(value).webhooks:
        number = seen[said.name] = seen.get(said.name, -1) + 1
        yield _compiled(configuration, said, f"{configuration}/{said.name}/{number}")


def _compiled(configuration: str, said: _Webhook, id_: str) -> Hook:
    callee, path = _callee(said.client_config)
    return Hook(
        name=said.name,
        configuration=configuration,
        id=id_,
        rules=said.rules,
        is_exact=said.match_policy == "Exact",
        selects_namespace=compile_selector(said.namespace_selector),
        selects_object=compile_selector(said.object_selector),
        conditions=Conditions(said.match_conditions),
        fails_open=said.failure_policy == "Ignore",
        timeout_s=said.timeout_seconds,
        has_side_effects=said.side_effects not in ("None", "NoneOnDryRun"),
        is_repeated=said.reinvocation_policy == "IfNeeded",
        speaks_v1="v1" in said.admission_review_versions,
        callee=callee,
        path=path,
    )


def _callee(said: _ClientConfig) -> tuple[Callee, str]:
    authority = b64decode(said.ca_bundle)
    if said.service:
        service = said.service
        callee = Callee(
            namespace=service.namespace,
            name=service.name,
            port=service.port,
            authority=authority,
        )
        return callee, _path(service.path)
    parts = urlsplit(said.url)
    origin = f"{parts.scheme}://{parts.netloc}"
    return Callee(url=origin, authority=authority), _path(parts.path)


def _path(said: str) -> str:
    return "/" + said.strip("/")
