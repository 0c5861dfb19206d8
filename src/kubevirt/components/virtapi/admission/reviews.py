"""AdmissionReview, version 1: a question of the API server, and the answer to it."""

import base64
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from kubevirt.api.core.reviews import UserInfo
from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.api.struct import Struct
from kubevirt.virt.commands.refusal import bad_request
from kubevirt.virt.defaults.patch import Operation
from kubevirt.virt.validate.causes import Cause, message_of

VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"
INVALID: Final = 422

Raw = dict[str, Any]


class ResourceName(Struct, frozen=True, kw_only=True):
    group: str = ""
    version: str = ""
    resource: str = ""


class Question(Struct, frozen=True, kw_only=True):
    uid: str
    operation: str
    resource: ResourceName = ResourceName()
    sub_resource: str = ""
    user_info: UserInfo = UserInfo()
    object: Raw | None = None
    old_object: Raw | None = None

    @property
    def new(self) -> Raw:
        if self.object is None:
            raise bad_request("an AdmissionReview without an object cannot be answered here")
        return self.object

    @property
    def old(self) -> Raw:
        if self.old_object is None:
            raise bad_request("an AdmissionReview of an update has to have an oldObject")
        return self.old_object


class _Review(Struct, frozen=True, kw_only=True):
    api_version: str
    kind: str
    request: Question


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Yes, unless there are causes."""

    causes: Sequence[Cause] = ()
    patch: Sequence[Operation] = ()
    warnings: tuple[str, ...] = ()


YES: Final = Verdict()


def read(body: bytes) -> Question:
    try:
        review = msgspec.json.decode(body, type=_Review)
    except (msgspec.DecodeError, RecursionError) as error:
        raise bad_request(f"the body is no AdmissionReview: {error}") from None
    if (review.api_version, review.kind) != (VERSION, KIND):
        raise bad_request(f"only {VERSION} {KIND} is understood here")
    return review.request


def answer(question: Question, verdict: Verdict) -> Raw:
    response: Raw = {"uid": question.uid, "allowed": not verdict.causes}
    if verdict.causes:
        response["status"] = _denial(verdict.causes)
    elif verdict.patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(msgspec.json.encode(verdict.patch)).decode()
    if verdict.warnings:
        response["warnings"] = list(verdict.warnings)
    return {"kind": KIND, "apiVersion": VERSION, "response": response}


def _denial(causes: Sequence[Cause]) -> Raw:
    details = StatusDetails(
        causes=tuple(
            StatusCause(reason=each.type, message=each.message, field=each.field) for each in causes
        )
    )
    return {
        "status": "Failure",
        "code": INVALID,
        "reason": "Invalid",
        "message": message_of(causes),
        "details": msgspec.to_builtins(details),
    }
