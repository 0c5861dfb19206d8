"""Answers: JSON, and a `Status` where something is refused."""

from typing import Any, Final

import msgspec
from aiohttp import web

from kubevirt.api.meta import Status, StatusDetails
from kubevirt.kube.errors import ApiError
from kubevirt.virt.commands.refusal import Refusal

JSON: Final = "application/json"
OBJECTS: Final = "kubevirt.io"
"""The group of what a refusal is about."""


def json(value: Any, *, code: int = 200, media: str = JSON) -> web.Response:
    body = msgspec.json.encode(value)
    return web.Response(status=code, body=body, headers={"Content-Type": media})


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
    """What the API server said to us is said to whoever asked."""
    code = error.code or 500
    found = msgspec.structs.replace(error.status, message=str(error), status="Failure", code=code)
    return status(found)


def status(found: Status) -> web.Response:
    plain = {"kind": found.kind, "apiVersion": found.api_version, "metadata": {}}
    fields = msgspec.to_builtins(found)
    return json({**plain, **fields, "metadata": {}}, code=found.code)
