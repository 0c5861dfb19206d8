"""Whether a write is any of a webhook's business.

By the labels of its namespace and of the object, by the rules, and last by `matchConditions`. A rule may be
meant for another version of the resource: then the webhook is asked in that one, unless it insists.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from kubevirt.apiserver.admission.conditions import Unanswered
from kubevirt.apiserver.admission.hooks import Hook, Rule
from kubevirt.apiserver.admission.request import Request
from kubevirt.apiserver.admission.reviews import described, in_version
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import forbidden

Object = dict[str, Any]
LabelsOfNamespace = Callable[[str], Awaitable[Mapping[str, str]]]
"""Raises a refusal for a namespace that is not there."""


class Matching:
    def __init__(self, labels_of_namespace: LabelsOfNamespace) -> None:
        self._labels_of_namespace = labels_of_namespace

    async def version(
        self, hook: Hook, request: Request, object_: Object | None, kind: Kind
    ) -> str | None:
        """In which version of the resource to ask; None if not at all."""
        if not _is_object_selected(hook, object_, request.old):
            return None
        version = _version(hook, request)
        if version is None or not await self._is_namespace_selected(hook, request, object_):
            return None
        if hook.conditions and not _conditions_hold(hook, request, object_, version, kind):
            return None
        return version

    async def _is_namespace_selected(
        self, hook: Hook, request: Request, object_: Object | None
    ) -> bool:
        """Objects that are in no namespace are never exempted by one."""
        selects = hook.selects_namespace
        if selects is None or not (request.namespace or request.is_namespace):
            return True
        if request.is_namespace and not request.subresource and object_ is not None:
            return selects(_labels(object_))
        return selects(await self._labels_of_namespace(request.namespace))


def _is_object_selected(hook: Hook, new: Object | None, old: Object | None) -> bool:
    """As it was or as it shall be: nobody gets rid of a webhook by taking a label off."""
    selects = hook.selects_object
    return selects is None or any(selects(_labels(each)) for each in (new, old) if each is not None)


def _labels(object_: Object) -> Mapping[str, str]:
    return (object_.get("metadata") or {}).get("labels") or {}


def _version(hook: Hook, request: Request) -> str | None:
    if any(matches(rule, request, request.version) for rule in hook.rules):
        return request.version
    if hook.is_exact:
        return None
    return next(
        (
            version
            for rule in hook.rules
            for version in request.other_versions
            if matches(rule, request, version)
        ),
        None,
    )


def matches(rule: Rule, request: Request, version: str) -> bool:
    return (
        _is_in_scope(rule, request)
        and _is_in(request.operation, rule.operations)
        and _is_in(request.group, rule.groups)
        and _is_in(version, rule.versions)
        and any(_is_resource(each, request) for each in rule.resources)
    )


def _is_in(word: str, words: tuple[str, ...]) -> bool:
    return "*" in words or word in words


def _is_in_scope(rule: Rule, request: Request) -> bool:
    if rule.scope == "*":
        return True
    is_of_cluster = request.is_namespace or not request.namespace
    return is_of_cluster == (rule.scope == "Cluster")


def _is_resource(said: str, request: Request) -> bool:
    """`pods`, `pods/status`, `pods/*`, `*`, `*/status` or `*/*`."""
    resource, _, subresource = said.partition("/")
    return resource in ("*", request.resource) and subresource in ("*", request.subresource)


def _conditions_hold(
    hook: Hook, request: Request, object_: Object | None, version: str, kind: Kind
) -> bool:
    variables = {
        "object": in_version(object_, request, version),
        "oldObject": in_version(request.old, request, version),
        "request": described(request, version),
    }
    try:
        return hook.conditions.hold(variables)
    except Unanswered as error:
        if hook.fails_open:
            return False
        raise forbidden(kind, request.name, str(error)) from error
