"""How a request wants to be done: the parameters of its query, read and judged.

Each set of options is a value. What is wrong with one is said as Kubernetes says it, about an object that
nobody ever sees: `CreateOptions.meta.k8s.io "" is invalid: …`.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.apiserver.http.asked import is_true
from kubevirt.apiserver.refusals import Refusal, bad_request, refusal
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.schema import gotext
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    aggregate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)

META: Final = "meta.k8s.io"
MANAGER_LIMIT: Final = 128
_VALIDATIONS: Final = ("", "Ignore", "Strict", "Warn")
_POLICIES: Final = ("Foreground", "Background", "Orphan", "nil")


class WriteOptions(msgspec.Struct, frozen=True, kw_only=True):
    dry_run: bool = False
    manager: str = ""
    validation: str = "Warn"
    """Of fields that nobody knows: Ignore, Warn or Strict."""
    force: bool = False


class DeleteOptions(msgspec.Struct, frozen=True, kw_only=True):
    dry_run: bool = False
    grace_s: int | None = None
    policy: str = ""
    """Background, Foreground or Orphan; empty where the kind's own shall be."""
    uid: str = ""
    resource_version: str = ""
    document: dict[str, Any] = {}
    """As the client said it, for admission."""


class ListOptions(msgspec.Struct, frozen=True, kw_only=True):
    labels: str = ""
    fields: str = ""
    limit: int = 0
    continue_: str = ""
    resource_version: int | None = None
    """None if none was said, which means the newest; 0 means any."""
    match: str = ""
    timeout_s: int | None = None
    bookmarks: bool = False
    initial_events: bool | None = None


# Writing

_WRITES: Final = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}


def of_write(call: Call, *, is_apply: bool = False) -> WriteOptions:
    manager = call.first("fieldManager")
    validation = call.first("fieldValidation")
    forced = call.query.get("force")
    wrong = [*_wrong_dry_run(call), *_wrong_manager(manager)]
    if call.verb == "patch" and is_apply and not manager:
        wrong.append(required("fieldManager", "is required for apply patch"))
    if call.verb == "patch" and not is_apply and forced is not None:
        wrong.append(forbidden("force", "may not be specified for non-apply patch"))
    if validation not in _VALIDATIONS:
        wrong.append(not_supported("fieldValidation", validation, _VALIDATIONS))
    if wrong:
        raise _invalid(_WRITES.get(call.verb, "CreateOptions"), wrong)
    return WriteOptions(
        dry_run="dryRun" in call.query,
        manager=manager or call.default_manager,
        validation=validation or "Warn",
        force=bool(forced) and is_true(call.first("force")),
    )


def document(call: Call, kind: str) -> dict[str, Any]:
    """The options of a write as an object of `kind`, for admission."""
    said = {name: call.first(name) for name in ("fieldManager", "fieldValidation")}
    return _document(kind, {"dryRun": list(call.query.get("dryRun", ())), **said})


def _document(kind: str, said: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in said.items() if value not in (None, "", [], {})}
    return {"kind": kind, "apiVersion": f"{META}/v1", **kept}


def _wrong_dry_run(call: Call) -> list[FieldError]:
    said = list(call.query.get("dryRun", ()))
    return [not_supported("dryRun", said, ["All"])] if said and said != ["All"] else []


def _wrong_manager(manager: str) -> list[FieldError]:
    found = []
    if len(manager.encode()) > MANAGER_LIMIT:
        found.append(too_long("fieldManager", MANAGER_LIMIT))
    if not manager.isprintable():
        words = "should only contain printable characters"
        found.append(invalid("fieldManager", manager, words))
    return found


# Deleting


class _Preconditions(msgspec.Struct, rename="camel"):
    uid: str | None = None
    resource_version: str | None = None


class _DeleteBody(msgspec.Struct, rename="camel"):
    grace_period_seconds: int | None = None
    preconditions: _Preconditions | None = None
    orphan_dependents: bool | None = None
    propagation_policy: str | None = None
    dry_run: list[str] | None = None


def of_delete(call: Call, body: dict[str, Any] | None) -> DeleteOptions:
    """Those of the body, if there is one; else those of the query."""
    said = _of_body(body) if body else _of_query(call)
    wrong = []
    policy = said.propagation_policy
    if policy is not None and said.orphan_dependents is not None:
        words = "orphanDependents and deletionPropagation cannot be both set"
        wrong.append(invalid("propagationPolicy", policy, words))
    elif policy is not None and policy not in _POLICIES[:3]:
        wrong.append(not_supported("propagationPolicy", policy, _POLICIES))
    dry_run = said.dry_run or []
    if dry_run and dry_run != ["All"]:
        wrong.append(not_supported("dryRun", dry_run, ["All"]))
    if wrong:
        raise _invalid("DeleteOptions", wrong)
    if said.orphan_dependents is not None:
        policy = "Orphan" if said.orphan_dependents else "Background"
    conditions = said.preconditions or _Preconditions()
    return DeleteOptions(
        dry_run=bool(dry_run),
        grace_s=said.grace_period_seconds,
        policy=policy or "",
        uid=conditions.uid or "",
        resource_version=conditions.resource_version or "",
        document=_document("DeleteOptions", msgspec.to_builtins(said)),
    )


def _of_body(body: dict[str, Any]) -> _DeleteBody:
    try:
        return msgspec.convert(body, _DeleteBody)
    except msgspec.ValidationError as error:
        raise refusal(500, "", _mismatch(str(error), body)) from error


_MISMATCH: Final = re.compile(r"at `\$\.(?P<path>[\w.]+)(\[(?P<item>\d+)\])?`")
_GO_TYPES: Final = {
    "dryRun": "[]string",
    "gracePeriodSeconds": "int64",
    "orphanDependents": "bool",
    "preconditions": "v1.Preconditions",
    "preconditions.resourceVersion": "string",
    "preconditions.uid": "types.UID",
    "propagationPolicy": "v1.DeletionPropagation",
}


def _mismatch(words: str, body: dict[str, Any]) -> str:
    """What is of a wrong type, as Go's decoder says it."""
    found = _MISMATCH.search(words)
    if found is None:
        return words
    path, type_ = found["path"], _GO_TYPES[found["path"]]
    value: Any = body
    for step in path.split("."):
        value = value[step]
    if found["item"]:
        value, type_ = value[int(found["item"])], "string"
    has = f"number {gotext.number(value)}" if isinstance(value, float) else gotext.kind_of(value)
    owner = "Preconditions" if "." in path else "DeleteOptions"
    return f"json: cannot unmarshal {has} into Go struct field {owner}.{path} of type {type_}"


def _of_query(call: Call) -> _DeleteBody:
    query = call.query
    orphan = query.get("orphanDependents")
    return _DeleteBody(
        grace_period_seconds=_whole(call, "gracePeriodSeconds"),
        orphan_dependents=is_true(orphan[0]) if orphan else None,
        propagation_policy=query["propagationPolicy"][0] if "propagationPolicy" in query else None,
        dry_run=list(query.get("dryRun", ())),
    )


# Listing

_MATCH: Final = "resourceVersionMatch"
_NOT_IN_A_PAGE: Final = "resourceVersionMatch is forbidden when continue is provided"


def of_list(call: Call) -> ListOptions:
    options = ListOptions(
        labels=call.first("labelSelector"),
        fields=call.first("fieldSelector"),
        limit=max(_whole(call, "limit") or 0, 0),
        continue_=call.first("continue"),
        resource_version=_version(call),
        match=call.first("resourceVersionMatch"),
        timeout_s=_whole(call, "timeoutSeconds"),
        bookmarks="allowWatchBookmarks" in call.query
        and is_true(call.first("allowWatchBookmarks")),
        initial_events=(
            is_true(call.first("sendInitialEvents")) if "sendInitialEvents" in call.query else None
        ),
    )
    if wrong := list(_wrong_list(options, is_watch=call.verb == "watch")):
        raise _invalid("ListOptions", wrong)
    return options


def _wrong_list(options: ListOptions, *, is_watch: bool) -> Iterator[FieldError]:
    """All of it, in Kubernetes' order."""
    if is_watch:
        yield from _wrong_watch(options)
        return
    match = options.match
    if match and options.resource_version is None:
        words = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        yield forbidden(_MATCH, words)
    if match and options.continue_:
        yield forbidden(_MATCH, _NOT_IN_A_PAGE)
    if match not in ("", "Exact", "NotOlderThan"):
        yield not_supported(_MATCH, match, ["Exact", "NotOlderThan", ""])
    if match == "Exact" and options.resource_version == 0:
        words = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        yield forbidden(_MATCH, words)
    if options.initial_events is not None:
        yield forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")


def _wrong_watch(options: ListOptions) -> Iterator[FieldError]:
    match, is_fresh = options.match, options.match == "NotOlderThan"
    if options.initial_events is not None and not is_fresh:
        words = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        yield forbidden(_MATCH, words)
    if match and options.initial_events is None:
        words = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        yield forbidden(_MATCH, words)
    if match and not is_fresh:
        yield not_supported(_MATCH, match, ["NotOlderThan"])
    if match and options.continue_:
        yield forbidden(_MATCH, _NOT_IN_A_PAGE)


def _whole(call: Call, name: str) -> int | None:
    text = call.first(name)
    if not text:
        return None
    if not re.fullmatch(r"[+-]?\d{1,19}", text, re.ASCII):
        raise bad_request(f"strconv.ParseInt: parsing {gotext.quoted(text)}: invalid syntax")
    return int(text)


def _version(call: Call) -> int | None:
    text = call.first("resourceVersion")
    if not text:
        return None
    if re.fullmatch(r"\d{1,19}", text, re.ASCII):
        return int(text)
    words = f"strconv.ParseUint: parsing {gotext.quoted(text)}: invalid syntax"
    wrong = str(invalid("resourceVersion", text, words))
    if call.verb == "watch":
        raise refusal(500, "", wrong)
    raise bad_request(f"invalid resource version: {wrong}")


def _invalid(kind: str, wrong: list[FieldError]) -> Refusal:
    causes = tuple(
        StatusCause(reason=str(each.reason), message=each.message, field=each.field)
        for each in wrong
    )
    details = StatusDetails(group=META, kind=kind, causes=causes)
    message = f'{kind}.{META} "" is invalid: {aggregate(wrong)}'
    return refusal(422, "Invalid", message, details=details)
