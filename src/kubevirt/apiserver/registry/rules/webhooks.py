"""Configurations of webhooks: whom they name, what they match, and what they must promise."""

from collections.abc import Iterator
from typing import Any, Final

from kubevirt.apiserver.registry.rules import webhook_clients
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import cel, label_selectors, names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)
from kubevirt.apiserver.schema.plain import is_same

CONDITIONS_LIMIT: Final = 64
REVIEW_VERSIONS: Final = ("v1", "v1beta1")
_DEFAULTS: Final = {"failurePolicy": "Fail", "matchPolicy": "Equivalent", "timeoutSeconds": 10}
_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_CHOICES: Final = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
}
_PROMISES: Final = ("None", "NoneOnDryRun")


class WebhookRules(Rules):
    needs_version_to_update = True

    def __init__(self, *, is_mutating: bool) -> None:
        super().__init__(has_generation=True)
        self._is_mutating = is_mutating

    def defaulted(self, object_: Object) -> Object:
        hooks = object_.get("webhooks")
        if not hooks:
            return object_
        return {**object_, "webhooks": [self._hook(each) for each in hooks]}

    def _hook(self, said: Object) -> Object:
        hook = {"namespaceSelector": {}, "objectSelector": {}, **_DEFAULTS, **said}
        if self._is_mutating:
            hook.setdefault("reinvocationPolicy", "Never")
        if hook.get("rules"):
            hook["rules"] = [{"scope": "*", **rule} for rule in hook["rules"]]
        config = hook.get("clientConfig") or {}
        if config.get("service") is not None:
            hook["clientConfig"] = {**config, "service": {"port": 443, **config["service"]}}
        return hook

    def errors(self, object_: Object) -> list[FieldError]:
        return list(self._errors(object_, checks_conditions=True))

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        """Conditions that nobody touched may stay, though a newer server would not take them."""
        is_touched = not is_same(_conditions(new), _conditions(old))
        return list(self._errors(new, checks_conditions=is_touched))

    def _errors(self, object_: Object, *, checks_conditions: bool) -> Iterator[FieldError]:
        seen = set()
        for index, hook in enumerate(object_.get("webhooks") or ()):
            at = f"webhooks[{index}]"
            yield from self._errors_of_hook(hook, at)
            if checks_conditions:
                at_conditions = f"{at}.matchConditions"
                yield from _of_conditions(hook.get("matchConditions") or (), at_conditions)
            versions = hook.get("admissionReviewVersions") or []
            yield from _of_versions(versions, f"{at}.admissionReviewVersions")
            name = hook.get("name", "")
            if name and name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)

    def _errors_of_hook(self, hook: Object, at: str) -> Iterator[FieldError]:
        yield from _of_name(hook.get("name", ""), f"{at}.name")
        for index, rule in enumerate(hook.get("rules") or ()):
            yield from _of_rule(rule, f"{at}.rules[{index}]")
        for field, choices in _CHOICES.items():
            if hook[field] not in choices:
                yield not_supported(f"{at}.{field}", hook[field], choices)
        effects = hook.get("sideEffects")
        if not effects:
            yield required(f"{at}.sideEffects", f"must specify one of {', '.join(_PROMISES)}")
        elif effects not in _PROMISES:
            yield not_supported(f"{at}.sideEffects", effects, _PROMISES)
        if not 1 <= hook["timeoutSeconds"] <= 30:
            words = "the timeout value must be between 1 and 30 seconds"
            yield invalid(f"{at}.timeoutSeconds", hook["timeoutSeconds"], words)
        for field in ("namespaceSelector", "objectSelector"):
            yield from label_selectors.errors(hook[field], f"{at}.{field}")
        policy = hook.get("reinvocationPolicy", "Never")
        if self._is_mutating and policy not in ("IfNeeded", "Never"):
            yield not_supported(f"{at}.reinvocationPolicy", policy, ("IfNeeded", "Never"))
        yield from webhook_clients.errors(hook.get("clientConfig") or {}, f"{at}.clientConfig")


def _conditions(object_: Object) -> list[Any]:
    return [each.get("matchConditions") for each in object_.get("webhooks") or ()]


def _of_name(name: str, at: str) -> Iterator[FieldError]:
    if not name:
        yield required(at)
    elif wrong := names.subdomain(name):
        yield invalid(at, name, ",".join(wrong))
    elif name.count(".") < 2:
        words = "should be a domain with at least three segments separated by dots"
        yield invalid(at, name, words)


# What they match


def _of_rule(rule: Object, at: str) -> Iterator[FieldError]:
    operations = rule.get("operations") or []
    yield from _of_words(operations, f"{at}.operations", "operations")
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            yield not_supported(f"{at}.operations[{index}]", operation, _OPERATIONS)
    yield from _of_words(rule.get("apiGroups") or [], f"{at}.apiGroups", "API groups")
    versions = rule.get("apiVersions") or []
    yield from _of_words(versions, f"{at}.apiVersions", "API versions")
    for index, version in enumerate(versions):
        if not version:
            yield required(f"{at}.apiVersions[{index}]")
    yield from _of_resources(rule.get("resources") or [], f"{at}.resources")
    scopes = ("*", "Cluster", "Namespaced")
    if rule.get("scope", "*") not in scopes:
        yield not_supported(f"{at}.scope", rule["scope"], scopes)


def _of_words(words: list[str], at: str, what: str) -> Iterator[FieldError]:
    if not words:
        yield required(at)
    if len(words) > 1 and "*" in words:
        yield invalid(at, words, f"if '*' is present, must not specify other {what}")


def _of_resources(resources: list[str], at: str) -> Iterator[FieldError]:
    if not resources:
        yield required(at)
    yield from (required(f"{at}[{index}]") for index, said in enumerate(resources) if not said)
    yield from _of_subresources(resources, at)
    if len(resources) > 1 and "*/*" in resources:
        yield invalid(at, resources, "if '*/*' is present, must not specify other resources")
    alone = [each for each in resources if each and "/" not in each]
    # Kubernetes looks at the last one only.
    if "*" in alone and alone[-1] != "*":
        words = "if '*' is present, must not specify other resources without subresources"
        yield invalid(at, resources, words)


def _of_subresources(resources: list[str], at: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, said in enumerate(resources):
        resource, slash, below = said.partition("/")
        if not slash:
            continue
        for wider in (f"{resource}/*", f"*/{below}"):
            if wider in seen:
                words = f"if '{wider}' is present, must not specify {said}"
                yield invalid(f"{at}[{index}]", said, words)
        seen.add(said)


def _of_versions(versions: list[str], at: str) -> Iterator[FieldError]:
    known = ", ".join(REVIEW_VERSIONS)
    if not versions:
        yield required(at, f"must specify one of {known}")
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"{at}[{index}]", version, "duplicate version")
            continue
        wrong = names.label_1035(version)
        yield from (invalid(f"{at}[{index}]", version, words) for words in wrong)
    if not set(versions) & set(REVIEW_VERSIONS):
        yield invalid(at, versions, f"must include at least one of {known}")


# Their conditions


def _of_conditions(conditions: Any, at: str) -> Iterator[FieldError]:
    if len(conditions) > CONDITIONS_LIMIT:
        yield too_many(at, len(conditions), CONDITIONS_LIMIT)
    seen = set()
    for index, condition in enumerate(conditions):
        where = f"{at}[{index}]"
        expression = condition.get("expression", "").strip()
        if not expression:
            yield required(f"{where}.expression")
        elif complaint := _complaint(expression):
            yield invalid(f"{where}.expression", expression, complaint)
        name = condition.get("name", "")
        if not name:
            yield required(f"{where}.name")
        else:
            wrong = names.qualified(name)
            yield from (invalid(f"{where}.name", name, words) for words in wrong)
        if name and name in seen:
            yield duplicate(f"{where}.name", name)
        seen.add(name)


_BOOLEANS: Final = ("request.dryRun",)
"""Fields whose type Kubernetes knows, where ours are dynamic."""


def _complaint(expression: str) -> str:
    try:
        type_ = cel.type_of(expression, cel.OF_CONDITIONS)
    except cel.BadExpression as error:
        return f"compilation failed: {error}"
    is_bool = type_ == "bool" or expression in _BOOLEANS
    return "" if is_bool else f"must evaluate to bool but got {type_}"
