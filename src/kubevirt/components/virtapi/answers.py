"""Answers: JSON, and a `Status` where something is refused."""

from typing import Any, Final

import msgspec
from aiohttp import web

from kubevirt.api.meta import Status, StatusDetails
from kubevirt.kube.errors import ApiError, Unauthorized
from kubevirt.virt.commands.refusal import Refusal, internal

JSON: Final = "application/json"
OBJECTS: Final = "kubevirt.io"
"""The group of what a refusal is about."""


def json(value: Any, *, code: int = 200) -> web.Response:
    return encoded(msgspec.json.encode(value), code=code)


def encoded(body: bytes, *, code: int = 200) -> web.Response:
    return web.Response(status=code, body=body, headers={"Content-Type": JSON})


def refused(refusal: Refusal) -> web.Response:
    details = None
    if refusal.kind:
        details = StatusDetails(name=refusal.name, group=OBJECTS, kind=refusal.kind)
    return status(
        Status(
            status="Failure",
            message=str(refusal),
            reason=refusal.reason,
            details=details,
            code=refusal.code,
        )
    )


def of_server(error: ApiError) -> web.Response:
    """What the API server said to us is said to whoever asked. That it does not know us is our own trouble."""
    if isinstance(error, Unauthorized):
        return refused(internal(f"the API server does not let virt-api in: {error}"))
    code = error.code or 500
    found = msgspec.structs.replace(error.status, message=str(error), status="Failure", code=code)
    return status(found)


def status(found: Status) -> web.Response:
    plain = {"kind": found.kind, "apiVersion": found.api_version, "metadata": {}}
    fields = msgspec.to_builtins(found)
    return json({**plain, **fields, "metadata": {}}, code=found.code)
