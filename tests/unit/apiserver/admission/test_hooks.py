"""Webhooks compiled from their configurations."""

from typing import Any

import msgspec
import pytest

from kubevirt.apiserver.admission.conditions import Condition, Conditions, Unanswered
from kubevirt.apiserver.admission.hooks import Hook, Rule, hooks_of
from kubevirt.apiserver.admission.matching import matches
from kubevirt.apiserver.admission.request import KindName, Request
from kubevirt.apiserver.registry.identity import Identity

Object = dict[str, Any]


def compiled(*webhooks: Object) -> list[Hook]:
    least = {"name": "a.b.c", "clientConfig": {"url": "https://x:1/p"}}
    body = {"webhooks": [{**least, **each} for each in webhooks]}
    return list(hooks_of("conf", msgspec.json.encode(body)))


def test_what_a_configuration_leaves_out() -> None:
    (hook,) = compiled({})
    assert hook.timeout_s == 10
    assert not hook.fails_open
    assert not hook.is_exact
    assert not hook.is_repeated
    assert hook.has_side_effects
    assert hook.selects_object is None
    assert not hook.conditions


def test_webhooks_of_one_name_are_told_apart() -> None:
    """Stored when that was still allowed."""
    assert [each.id for each in compiled({}, {})] == ["conf/a.b.c/0", "conf/a.b.c/1"]


@pytest.mark.parametrize(
    ("client", "origin", "path"),
    [
        ({"url": "https://x"}, "https://x", "/"),
        ({"url": "https://x:8443/a/b"}, "https://x:8443", "/a/b"),
        ({"url": "https://[::1]:8443/a/"}, "https://[::1]:8443", "/a"),
        ({"service": {"namespace": "n", "name": "s"}}, "https://s.n.svc:443", "/"),
        (
            {"service": {"namespace": "n", "name": "s", "path": "/p", "port": 8443}},
            "https://s.n.svc:8443",
            "/p",
        ),
    ],
)
def test_where_a_webhook_is(client: Object, origin: str, path: str) -> None:
    (hook,) = compiled({"clientConfig": client})
    assert (hook.callee.origin, hook.path) == (origin, path)


@pytest.mark.parametrize(
    ("effects", "has_some"),
    [("None", False), ("NoneOnDryRun", False), ("Some", True), ("Unknown", True)],
)
def test_side_effects_that_a_dry_run_must_not_have(effects: str, *, has_some: bool) -> None:
    (hook,) = compiled({"sideEffects": effects})
    assert hook.has_side_effects is has_some


def request(resource: str = "pods", subresource: str = "", namespace: str = "n") -> Request:
    return Request(
        operation="CREATE",
        kind=KindName("", "v1", "Pod"),
        group="",
        version="v1",
        other_versions=(),
        resource=resource,
        subresource=subresource,
        namespace=namespace,
        name="x",
        identity=Identity(user="u"),
        is_dry_run=False,
        options=None,
        old=None,
        deadline=0.0,
    )


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("pods", [True, False]),
        ("*", [True, False]),
        ("pods/status", [False, True]),
        ("pods/*", [True, True]),
        ("*/*", [True, True]),
        ("*/status", [False, True]),
        ("*/scale", [False, False]),
        ("nodes/*", [False, False]),
    ],
)
def test_resources_of_rules(said: str, found: list[bool]) -> None:
    rule = Rule(operations=("*",), groups=("*",), versions=("*",), resources=(said,))
    requests = (request(), request(subresource="status"))
    assert [matches(rule, each, "v1") for each in requests] == found


@pytest.mark.parametrize(
    ("scope", "found"),
    [("*", [True, True]), ("Cluster", [False, True]), ("Namespaced", [True, False])],
)
def test_scopes_of_rules(scope: str, found: list[bool]) -> None:
    rule = Rule(operations=("*",), groups=("*",), versions=("*",), resources=("*",), scope=scope)
    requests = (request(), request("namespaces", namespace="n"))
    assert [matches(rule, each, "v1") for each in requests] == found


# Conditions


def conditions(*expressions: str) -> Conditions:
    return Conditions([Condition(str(index), text) for index, text in enumerate(expressions)])


def test_all_conditions_must_hold() -> None:
    variables: Object = {"object": {"a": 1}, "oldObject": None, "request": {}}
    assert conditions("object.a == 1", "oldObject == null").hold(variables)
    assert not conditions("object.a == 1", "object.a == 2").hold(variables)


def test_a_condition_that_was_never_one_has_no_answer() -> None:
    with pytest.raises(Unanswered, match="undeclared reference"):
        conditions("frob(object)").hold({"object": {}, "oldObject": None, "request": {}})


def test_what_is_false_settles_it_whatever_else_fails() -> None:
    variables: Object = {"object": {}, "oldObject": None, "request": {}}
    assert not conditions("object.a == 1", "false").hold(variables)
