"""Tokens on request: a TokenRequest for a service account, answered with a token that is bound as it asks."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.apiserver.auth.names import service_account_user
from kubevirt.apiserver.auth.tokens import Bound, Claims, Objects, Ref, TokenKey, TokenSettings
from kubevirt.apiserver.refusals import Refusal, bad_request, refusal
from kubevirt.apiserver.schema import field_errors
from kubevirt.apiserver.schema.field_errors import FieldError
from kubevirt.base.clock import Clock

GROUP: Final = "authentication.k8s.io"
KIND: Final = "TokenRequest"
_DEFAULT_S: Final = 3600
_LEAST_S: Final = 600
_MOST_S: Final = 1 << 32
_BINDABLE: Final = {"Pod": "pods", "Node": "nodes", "Secret": "secrets"}

Object = Mapping[str, Any]


class TokenIssuer:
    def __init__(
        self, key: TokenKey, settings: TokenSettings, objects: Objects, clock: Clock
    ) -> None:
        self._key = key
        self._settings = settings
        self._objects = objects
        self._clock = clock

    async def answer(self, request: Object, namespace: str, name: str) -> dict[str, Any]:
        """The request with its token. Raises a Refusal."""
        metadata = request.get("metadata") or {}
        _check_names(metadata, namespace, name)
        account = await self._found("serviceaccounts", namespace, name)
        uid = account["metadata"]["uid"]
        if metadata.get("uid", uid) != uid:
            raise _conflict(
                name,
                f"the UID in the token request ({metadata['uid']}) does not match the UID of the service "
                f"account ({uid})",
            )
        spec = request.get("spec") or {}
        seconds = spec.get("expirationSeconds") or _DEFAULT_S
        _check_duration(seconds)
        audiences = spec.get("audiences") or list(self._settings.own_audiences)
        bound = await self._bound(namespace, Ref(name, uid), spec.get("boundObjectRef"))
        now = self._clock.now()
        claims = _claims(self._settings.issuer, audiences, bound, now, seconds)
        return {
            **request,
            "metadata": {
                **metadata,
                "name": name,
                "namespace": namespace,
                "uid": uid,
                "creationTimestamp": _time(now),
            },
            "spec": {
                **spec,
                "audiences": audiences,
                "expirationSeconds": seconds,
                "boundObjectRef": spec.get("boundObjectRef"),
            },
            "status": {
                "token": self._key.sign(claims),
                "expirationTimestamp": _time(now + timedelta(seconds=seconds)),
            },
        }

    async def _bound(self, namespace: str, account: Ref, ref: Object | None) -> Bound:
        if not ref:
            return Bound(namespace=namespace, serviceaccount=account)
        kind, version = ref.get("kind", ""), ref.get("apiVersion", "")
        if kind not in _BINDABLE or "/" in version:
            raise bad_request(f"cannot bind token to object of type {version}, Kind={kind}")
        where = "" if kind == "Node" else namespace
        found = await self._found(_BINDABLE[kind], where, ref.get("name", ""))
        if kind == "Pod" and found["spec"].get("serviceAccountName") != account.name:
            raise bad_request(
                f'cannot bind token for serviceaccount "{account.name}" to pod running with different '
                "serviceaccount name."
            )
        uid = found["metadata"]["uid"]
        if ref.get("uid", uid) != uid:
            raise _conflict(
                ref.get("name", ""),
                f"the UID in the bound object reference ({ref['uid']}) does not match the UID in record. The "
                "object might have been deleted and then recreated",
                kind=kind,
                group="",
            )
        to = Ref(found["metadata"]["name"], uid)
        match kind:
            case "Pod":
                node = await self._node(found["spec"].get("nodeName", ""))
                return Bound(namespace=namespace, serviceaccount=account, pod=to, node=node)
            case "Node":
                return Bound(namespace=namespace, serviceaccount=account, node=to)
        return Bound(namespace=namespace, serviceaccount=account, secret=to)

    async def _node(self, name: str) -> Ref | None:
        """Where a pod runs; its name is told even if the node's object is gone."""
        if not name:
            return None
        found = await self._objects.get("nodes", "", name)
        return Ref(name, found["metadata"]["uid"] if found else "")

    async def _found(self, resource: str, namespace: str, name: str) -> Object:
        found = await self._objects.get(resource, namespace, name)
        if found is None:
            details = StatusDetails(name=name, kind=resource)
            message = f'{resource} "{name}" not found'
            raise refusal(404, "NotFound", message, details=details)
        return found


def _claims(issuer: str, audiences: list[str], bound: Bound, now: datetime, seconds: int) -> Claims:
    issued = int(now.timestamp())
    return Claims(
        iss=issuer,
        sub=service_account_user(bound.namespace, bound.serviceaccount.name),
        aud=tuple(audiences),
        iat=issued,
        nbf=issued,
        exp=issued + seconds,
        jti=str(uuid.uuid4()),
        kubernetes=bound,
    )


def _check_names(metadata: Object, namespace: str, name: str) -> None:
    for field, wanted in (("name", name), ("namespace", namespace)):
        given = metadata.get(field)
        if given and given != wanted:
            detail = f"must match the service account {field} if specified"
            raise _invalid(name, field_errors.invalid(f"metadata.{field}", given, detail))


def _check_duration(seconds: int) -> None:
    field = "spec.expirationSeconds"
    if seconds < _LEAST_S:
        detail = "may not specify a duration less than 10 minutes"
        raise _invalid("", field_errors.invalid(field, seconds, detail))
    if seconds > _MOST_S:
        detail = "may not specify a duration larger than 2^32 seconds"
        raise _invalid("", field_errors.invalid(field, seconds, detail))


def _invalid(name: str, error: FieldError) -> Refusal:
    cause = StatusCause(reason=error.reason, message=error.message, field=error.field)
    details = StatusDetails(name=name, group=GROUP, kind=KIND, causes=(cause,))
    message = field_errors.invalid_message(f"{KIND}.{GROUP}", name, [error])
    return refusal(422, "Invalid", message, details=details)


def _conflict(name: str, cause: str, *, kind: str = KIND, group: str = GROUP) -> Refusal:
    about = f"{kind}.{group}" if group else kind
    message = f'Operation cannot be fulfilled on {about} "{name}": {cause}'
    return refusal(
        409, "Conflict", message, details=StatusDetails(name=name, group=group, kind=kind)
    )


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
