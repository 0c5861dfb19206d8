"""Mutating webhooks of one write: one after the other, each sees what the one before has made.

A webhook that asks for it is asked once more if somebody behind it has changed the object, but never a
third time; and nobody is asked for the first time in the second round. A patch is applied as Kubernetes
applies patches, and its result is read as if the client had sent it.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from kubevirt.apiserver.admission import calling
from kubevirt.apiserver.admission.calling import Caller, HookFailed
from kubevirt.apiserver.admission.hooks import Hook
from kubevirt.apiserver.admission.matching import Matching
from kubevirt.apiserver.admission.request import Request, request_of
from kubevirt.apiserver.admission.reviews import in_version
from kubevirt.apiserver.apply import managed
from kubevirt.apiserver.patch import json_patch
from kubevirt.apiserver.patch.errors import BadPatch, PatchDoesNotApply, PatchTooLarge
from kubevirt.apiserver.registry.admission import Review, failed
from kubevirt.apiserver.schema import gotext
from kubevirt.apiserver.schema.plain import is_same

Object = dict[str, Any]

_AUDITED: Final = "mutation.webhook.admission.k8s.io/"
_SPOILT: Final = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated "
    "mutating admission controller; please fix your requests: "
)

_TYPES_OF_PATCHES: Final = {
    "[]handlers.jsonPatchOp": "jsonpatch.Patch",
    "handlers.jsonPatchOp": "jsonpatch.Operation",
}


class MutatingRounds:
    def __init__(
        self, hooks: Sequence[Hook], matching: Matching, caller: Caller, review: Review
    ) -> None:
        self._hooks = hooks
        self._matching = matching
        self._caller = caller
        self._review = review
        self._asked: set[str] = set()
        """Who wants to be asked again if the object changes from now on."""
        self._again: set[str] = set()
        """Who shall be asked again."""
        self._left: Object | None = None
        self.needs_second = False

    async def first(self, object_: Object | None) -> Object | None:
        return await self._round(object_, 0)

    async def second(self, object_: Object | None) -> Object | None:
        if not is_same(self._left, object_):
            self._changed()
        return await self._round(object_, 1)

    def _changed(self) -> None:
        self._again |= self._asked
        self._asked = set()

    async def _round(self, object_: Object | None, number: int) -> Object | None:
        for index, hook in enumerate(self._hooks):
            if number and hook.id not in self._again:
                continue
            request = request_of(self._review, object_)
            kind = self._review.call.kind
            version = await self._matching.version(hook, request, object_, kind)
            if version is None:
                continue
            made = await self._asked_to(hook, request, object_, version, f"{number}_index_{index}")
            if not is_same(made, object_):
                self._changed()
                self.needs_second = True
            if hook.is_repeated:
                self._asked.add(hook.id)
            object_ = made
        self._left = object_
        return object_

    async def _asked_to(
        self, hook: Hook, request: Request, object_: Object | None, version: str, round_: str
    ) -> Object | None:
        """The object as the webhook wants it."""
        annotations = self._review.call.annotations
        try:
            made = await self._mutated(hook, request, object_, version)
        except HookFailed as error:
            if self._caller.failed_open(hook, error, request):
                annotations[f"failed-open.{_AUDITED}round_{round_}"] = hook.name
                return object_
            raise calling.closed(error) from error
        told = {
            "configuration": hook.configuration,
            "webhook": hook.name,
            "mutated": not is_same(made, object_),
        }
        annotations[f"{_AUDITED}round_{round_}"] = msgspec.json.encode(told).decode()
        return made

    async def _mutated(
        self, hook: Hook, request: Request, object_: Object | None, version: str
    ) -> Object | None:
        answer = await self._caller.ask(hook, request, object_, version, is_mutating=True)
        calling.note(self._review.call, hook, answer)
        if not answer.is_allowed:
            raise calling.refused(hook, answer)
        if not answer.patch:
            return object_
        patch = _parsed(hook, answer.patch)
        if not patch.operations:
            return object_
        if object_ is None:
            words = "attempted to modify the object, which is not supported for this operation"
            raise failed(f"admission webhook {gotext.quoted(hook.name)} {words}")
        if answer.patch_type != "JSONPatch":
            raise HookFailed(hook, f"unsupported patch type {gotext.quoted(answer.patch_type)}")
        patched = _patched(in_version(object_, request, version), patch)
        return self._read_again(_of_kind(hook, patched, object_), object_)

    def _read_again(self, patched: Object, before: Object) -> Object:
        """With the owners that it had, if the webhook has spoilt those."""
        try:
            read = self._review.read_again(patched)
        except RecursionError as error:
            raise failed("the patch of a webhook nests too deeply") from error
        metadata: Object = read.get("metadata") or {}
        try:
            managed.decode(metadata.get("managedFields"))
        except managed.BadManagedFields as error:
            self._review.call.warnings.append(f"{_SPOILT}{error}")
            owners = (before.get("metadata") or {}).get("managedFields") or []
            return {**read, "metadata": {**metadata, "managedFields": owners}}
        return read


def _of_kind(hook: Hook, patched: Object, before: Object) -> Object:
    """What is no longer said is still so; what is said otherwise is a mistake."""
    kind = patched.get("kind") or before["kind"]
    if kind != before["kind"]:
        name = gotext.quoted(hook.name)
        raise failed(f"admission webhook {name} made a {gotext.shown(kind)} of a {before['kind']}")
    return {**patched, "apiVersion": before["apiVersion"], "kind": kind}


def _parsed(hook: Hook, text: bytes) -> json_patch.JsonPatch:
    try:
        return json_patch.parse(msgspec.json.decode(text))
    except (BadPatch, PatchTooLarge, ValueError, RecursionError) as error:
        # In other words than where a client sends one: another of Kubernetes' libraries reads it.
        said = str(error).removeprefix("error decoding patch: ")
        for ours, theirs in _TYPES_OF_PATCHES.items():
            said = said.replace(ours, theirs)
        words = f"received undecodable patch in webhook response: {said}"
        raise HookFailed(hook, words) from error


def _patched(object_: Object | None, patch: json_patch.JsonPatch) -> Object:
    try:
        made = json_patch.apply(object_, patch)
    except PatchDoesNotApply as error:
        raise failed(str(error.__cause__ or error)) from error
    if not isinstance(made, dict):
        raise failed("the patch of a webhook made no object")
    return made
