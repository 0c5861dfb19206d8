"""The typed clients of the `kubernetes` package.

Their models check what they read: an answer that lacks a field, or has one of another type, is
refused before a test looks at it.
"""

import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, utils
from kubernetes.client import exceptions
from tests.contract.conftest import People
from tests.contract.containment import holds
from tests.contract.lamps import LAMP_CRD, a_lamp
from tests.contract.packages.typed_kinds import KINDS, TypedKind

from kubevirt.api.resource import Resource

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


def a_config_map(name: str, **data: str) -> Any:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.api}-{kind.noun}")
def test_a_kind_lives_its_life(api: Any, namespace: str, kind: TypedKind) -> None:
    """Created, read, listed, replaced, patched, deleted: through its own functions and models."""
    functions = getattr(client, kind.api)(api)
    where = (namespace,) if kind.namespaced else ()
    name = f"life-{secrets.token_hex(4)}"

    def call(verb: str, *arguments: Any, **options: Any) -> Any:
        return getattr(functions, f"{verb}_{kind.functions_on}")(*arguments, **options)

    def written(object_: Any) -> Any:
        return api.sanitize_for_serialization(object_)

    def modelled(object_: Any) -> Any:
        return getattr(client, kind.model).from_dict(object_)

    body = {**kind.body, "metadata": {"name": name, "labels": {"life": name}}}
    if "involvedObject" in body or "regarding" in body:  # an event lives where its object does
        about = "involvedObject" if "involvedObject" in body else "regarding"
        body[about] = {**body[about], "namespace": namespace}
    made = call("create", *where, modelled(body))
    try:
        assert holds(written(made), body)
        assert holds(written(made), kind.defaults)
        listed = call("list", *where, label_selector=f"life={name}").items
        assert [each.metadata.uid for each in listed] == [made.metadata.uid]

        replaced, changed = None, {}
        while replaced is None:  # a controller may have written meanwhile
            changed = written(call("read", name, *where))
            kind.change(changed)
            with suppress(exceptions.ConflictException):
                replaced = call("replace", name, *where, modelled(changed))
        assert holds(written(replaced), {**changed, "metadata": {}})
        assert replaced.metadata.resource_version != made.metadata.resource_version

        if kind.patched:
            patch = {"metadata": {"labels": {"patched": "yes"}}}
            patched = call("patch", name, *where, patch)
            assert patched.metadata.labels == {"life": name, "patched": "yes"}
    finally:
        gone = call("delete", name, *where)
    assert (written(gone)["kind"] == "Status") is not kind.returned
    try:
        going = call("read", name, *where)
    except exceptions.NotFoundException:
        return
    assert going.metadata.finalizers  # volumes and claims are protected while somebody uses them
    assert going.metadata.deletion_timestamp is not None


def test_a_namespace_is_made_and_goes(core: Any) -> None:
    made = core.create_namespace(
        client.V1Namespace(metadata=client.V1ObjectMeta(generate_name="packages-"))
    )
    assert made.status.phase == "Active"
    assert made.spec.finalizers == ["kubernetes"]
    core.delete_namespace(made.metadata.name)
    try:
        going = core.read_namespace(made.metadata.name)
    except exceptions.NotFoundException:
        return
    assert going.status.phase == "Terminating"


def test_every_type_of_patch_is_taken(core: Any, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, a_config_map("patched", a="1", b="2"))

    def patched(body: Any, content_type: str, **options: Any) -> Any:
        return core.patch_namespaced_config_map(
            "patched", namespace, body, _content_type=content_type, **options
        ).data

    assert patched({"data": {"a": None}}, MERGE) == {"b": "2"}
    assert patched({"data": {"$patch": "replace", "c": "3"}}, STRATEGIC) == {"c": "3"}
    assert patched([{"op": "move", "from": "/data/c", "path": "/data/d"}], JSON) == {"d": "3"}
    said = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"e": "5"}}
    assert patched(said, APPLY, field_manager="ann") == {"d": "3", "e": "5"}
    with pytest.raises(exceptions.ApiException) as refused:
        patched({"data": {}}, "application/json")
    assert refused.value.status == 415


def test_what_is_applied_is_owned(core: Any, namespace: str) -> None:
    def applied(by: str, *, force: bool | None = None, **data: str) -> Any:
        said = a_config_map("owned", **data)
        said.api_version, said.kind = "v1", "ConfigMap"
        return core.patch_namespaced_config_map(
            "owned", namespace, said, field_manager=by, force=force, _content_type=APPLY
        )

    made = applied("ann", a="1", b="2")
    assert [(each.manager, each.operation) for each in made.metadata.managed_fields] == [
        ("ann", "Apply")
    ]
    with pytest.raises(exceptions.ConflictException) as refused:
        applied("bob", a="9")
    assert r"conflict with \"ann\": .data.a" in refused.value.body
    assert applied("bob", force=True, a="9").data == {"a": "9", "b": "2"}
    assert applied("ann").data == {"a": "9"}


def test_a_list_comes_in_pages_and_selections(core: Any, namespace: str) -> None:
    for number in range(5):
        made = a_config_map(f"page-{number}")
        made.metadata.labels = {"paged": "yes", "odd": str(number % 2)}
        core.create_namespaced_config_map(namespace, made)
    seen, after, left = [], None, []
    while after != "":
        page = core.list_namespaced_config_map(
            namespace, label_selector="paged", limit=2, _continue=after
        )
        seen += [each.metadata.name for each in page.items]
        after = page.metadata._continue or ""
        left.append(page.metadata.remaining_item_count)
    assert seen == [f"page-{number}" for number in range(5)]
    assert left[-1] is None
    odd = core.list_namespaced_config_map(namespace, label_selector="paged,odd notin (0)")
    assert [each.metadata.name for each in odd.items] == ["page-1", "page-3"]
    one = core.list_config_map_for_all_namespaces(
        field_selector=f"metadata.name=page-2,metadata.namespace={namespace}"
    )
    assert [each.metadata.labels["odd"] for each in one.items] == ["0"]
    gone = core.delete_collection_namespaced_config_map(namespace, label_selector="odd=1")
    assert gone.status in ("Success", None)
    left_over = core.list_namespaced_config_map(namespace, label_selector="paged").items
    assert [each.metadata.name for each in left_over] == ["page-0", "page-2", "page-4"]


def test_a_dry_run_leaves_nothing(core: Any, namespace: str) -> None:
    made = core.create_namespaced_config_map(namespace, a_config_map("dry"), dry_run="All")
    assert made.metadata.uid
    with pytest.raises(exceptions.NotFoundException):
        core.read_namespaced_config_map("dry", namespace)


def test_refusals_have_their_classes(core: Any, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, a_config_map("there"))
    there = core.read_namespaced_config_map("there", namespace)
    there.metadata.resource_version = "1"

    def invalid() -> None:
        core.create_namespaced_config_map(namespace, a_config_map("Not_A_Name"))

    cases: list[tuple[type[Exception], Callable[[], object]]] = [
        (exceptions.NotFoundException, lambda: core.read_namespaced_secret("none", namespace)),
        (
            exceptions.ConflictException,
            lambda: core.create_namespaced_config_map(namespace, a_config_map("there")),
        ),
        (
            exceptions.ConflictException,
            lambda: core.replace_namespaced_config_map("there", namespace, there),
        ),
        (exceptions.UnprocessableEntityException, invalid),
        (
            exceptions.BadRequestException,
            lambda: core.replace_namespaced_config_map("another", namespace, there),
        ),
    ]
    for expected, ask in cases:
        with pytest.raises(expected):
            ask()


def test_strangers_and_the_powerless_are_told_apart(namespace: str, people: People) -> None:
    def secrets_of(kubeconfig: Path) -> None:
        with config.new_client_from_config(config_file=str(kubeconfig)) as api:
            client.CoreV1Api(api).list_namespaced_secret(namespace)

    with pytest.raises(exceptions.ForbiddenException) as refused:
        secrets_of(people.kubeconfig_for("nobody"))
    assert r"User \"nobody\" cannot list resource \"secrets\"" in refused.value.body
    with pytest.raises(exceptions.UnauthorizedException):
        secrets_of(people.kubeconfig_with_token("no-token-of-yours"))


def test_a_service_account_comes_with_its_token(
    api: Any, core: Any, namespace: str, people: People
) -> None:
    core.create_namespaced_service_account(
        namespace, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="worker"))
    )
    asked = client.AuthenticationV1TokenRequest(
        spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=600)
    )
    given = core.create_namespaced_service_account_token("worker", namespace, asked)
    assert given.status.expiration_timestamp is not None
    review = client.V1TokenReview(spec=client.V1TokenReviewSpec(token=given.status.token))
    reviewed = client.AuthenticationV1Api(api).create_token_review(review)
    name = f"system:serviceaccount:{namespace}:worker"
    assert reviewed.status.authenticated
    assert reviewed.status.user.username == name
    as_worker = str(people.kubeconfig_with_token(given.status.token))
    with config.new_client_from_config(config_file=as_worker) as worker:
        told = client.AuthenticationV1Api(worker).create_self_subject_review({})
        assert told.status.user_info.username == name
        attributes = client.V1ResourceAttributes(namespace=namespace, verb="get", resource="pods")
        question = client.V1SelfSubjectAccessReview(
            spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
        )
        authorization = client.AuthorizationV1Api(worker)
        assert not authorization.create_self_subject_access_review(question).status.allowed


def test_custom_objects_are_dictionaries(
    api: Any, namespace: str, lamps: Resource[dict[str, Any]]
) -> None:
    custom = client.CustomObjectsApi(api)
    where = (lamps.group, lamps.version, namespace, lamps.plural)
    body = {"apiVersion": lamps.api_version, "kind": lamps.kind, **a_lamp("desk", bulbs=1)}
    made = custom.create_namespaced_custom_object(*where, body)
    assert made["metadata"]["generation"] == 1
    made["spec"]["watts"] = 60
    custom.replace_namespaced_custom_object(*where, "desk", made)
    patched = custom.patch_namespaced_custom_object(*where, "desk", {"spec": {"bulbs": 2}})
    assert patched["spec"] == {"watts": 60, "bulbs": 2}
    lit = custom.patch_namespaced_custom_object_status(
        *where, "desk", {"status": {"lit": True, "bulbs": 2}, "spec": {"watts": 1}}
    )
    assert (lit["status"]["lit"], lit["spec"]["watts"]) == (True, 60)
    scale = custom.get_namespaced_custom_object_scale(*where, "desk")
    assert (scale["kind"], scale["spec"], scale["status"]["replicas"]) == (
        "Scale",
        {"replicas": 2},
        2,
    )
    custom.patch_namespaced_custom_object_scale(*where, "desk", {"spec": {"replicas": 3}})
    found = custom.list_namespaced_custom_object(*where)["items"]
    assert [each["spec"]["bulbs"] for each in found] == [3]
    with pytest.raises(exceptions.UnprocessableEntityException, match=r"spec\.watts"):
        custom.patch_namespaced_custom_object(*where, "desk", {"spec": {"watts": 1000}})
    gone = custom.delete_namespaced_custom_object(*where, "desk")
    assert gone["status"] == "Success"


def test_definitions_are_typed(api: Any, lamps: Resource[dict[str, Any]]) -> None:
    extensions = client.ApiextensionsV1Api(api)
    found = extensions.read_custom_resource_definition(LAMP_CRD["metadata"]["name"])
    conditions = {each.type: each.status for each in found.status.conditions}
    assert conditions["Established"] == conditions["NamesAccepted"] == "True"
    assert found.status.accepted_names.kind == lamps.kind
    assert found.status.stored_versions == ["v1"]
    assert found.spec.conversion.strategy == "None"
    schema = found.spec.versions[0].var_schema.open_apiv3_schema
    assert schema.properties["spec"].properties["watts"].maximum == 100
    groups = {each.name for each in client.ApisApi(api).get_api_versions().groups}
    assert {"apps", "coordination.k8s.io", "rbac.authorization.k8s.io", lamps.group} <= groups
    served = client.CustomObjectsApi(api).get_api_resources(lamps.group, lamps.version)
    assert {each.name for each in served.resources} == {"lamps", "lamps/status", "lamps/scale"}
    assert client.VersionApi(api).get_code().major == "1"


MANIFESTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: from-yaml}
data: {a: "1"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: from-yaml}
rules: []
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: from-yaml}}
"""


def test_manifests_are_created_from_yaml(
    api: Any, core: Any, namespace: str, tmp_path: Path
) -> None:
    file = tmp_path / "manifests.yaml"
    file.write_text(MANIFESTS)
    for _ in range(2):
        utils.create_from_yaml(api, str(file), namespace=namespace, apply=True)
    assert core.read_namespaced_config_map("from-yaml", namespace).data == {"a": "1"}
    assert core.read_namespaced_secret("from-yaml", namespace).type == "Opaque"
    with pytest.raises(utils.FailToCreateError, match="already exists"):
        utils.create_from_yaml(api, str(file), namespace=namespace)
