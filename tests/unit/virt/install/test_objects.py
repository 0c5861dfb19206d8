"""What an installation consists of, and that nobody gets more by it than they need."""

import re
from typing import Any

import msgspec
import pytest

from kubevirt.api import crds
from kubevirt.api.definitions import DEFINITIONS
from kubevirt.virt.commands.calls import GROUP
from kubevirt.virt.install import digest, people, rights
from kubevirt.virt.install.objects import objects, others
from kubevirt.virt.install.options import Options, configuration
from kubevirt.virt.validate.requester import COMPONENTS

OPTIONS = Options(authority=b"-----BEGIN CERTIFICATE-----")
Object = dict[str, Any]


@pytest.fixture(scope="module")
def all_of_it() -> list[Object]:
    return objects(OPTIONS, crds.load())


def of(kind: str, found: list[Object]) -> list[Object]:
    return [each for each in found if each["kind"] == kind]


def name(thing: Object) -> tuple[str, str, str]:
    return thing["kind"], thing["metadata"].get("namespace", ""), thing["metadata"]["name"]


def test_nothing_is_there_twice(all_of_it: list[Object]) -> None:
    names = [name(each) for each in all_of_it]
    assert len(set(names)) == len(names)


def test_every_kind_is_defined(all_of_it: list[Object]) -> None:
    found = {each["metadata"]["name"] for each in of("CustomResourceDefinition", all_of_it)}
    assert found == {each.name for each in DEFINITIONS}


def test_everything_comes_after_what_it_needs(all_of_it: list[Object]) -> None:
    seen: set[tuple[str, str, str]] = set()
    for each in all_of_it:
        if namespace := each["metadata"].get("namespace"):
            assert namespace == "kube-system" or ("Namespace", "", namespace) in seen
        if role := each.get("roleRef"):
            home = each["metadata"].get("namespace", "") if role["kind"] == "Role" else ""
            assert home == "kube-system" or (role["kind"], home, role["name"]) in seen
        for subject in each.get("subjects", ()):
            if subject["kind"] == "ServiceAccount":
                assert ("ServiceAccount", subject["namespace"], subject["name"]) in seen
        seen.add(name(each))
    assert name(all_of_it[-1]) == ("KubeVirt", "kubevirt", "kubevirt")


def test_our_accounts_are_those_that_admission_knows(all_of_it: list[Object]) -> None:
    accounts = {each["metadata"]["name"] for each in of("ServiceAccount", all_of_it)}
    assert accounts <= set(COMPONENTS)
    assert accounts == {"kubevirt-apiserver", "kubevirt-controller", "kubevirt-handler"}


@pytest.mark.parametrize(
    "right",
    [right for each in rights.PROGRAMS for right in (*each.everywhere, *each.at_home)],
    ids=lambda right: f"{right.resources[0]}-{right.verbs[-1]}",
)
def test_every_right_of_ours_has_a_reason(right: rights.Right) -> None:
    assert len(right.because.split()) >= 3


def test_no_role_has_a_wildcard_nor_a_secret(all_of_it: list[Object]) -> None:
    for role in (*of("ClusterRole", all_of_it), *of("Role", all_of_it)):
        for rule in role["rules"]:
            words = {*rule["verbs"], *rule["resources"], *rule["apiGroups"]}
            assert not words & {"*", "secrets", "impersonate", "escalate", "bind"}, role["metadata"]
            assert "pods/exec" not in words


def test_no_role_names_a_kind_that_does_not_exist(all_of_it: list[Object]) -> None:
    known = {each.name for each in DEFINITIONS}
    for role in of("ClusterRole", all_of_it):
        for rule in role["rules"]:
            (group,) = rule["apiGroups"]
            if group.endswith("kubevirt.io") and group != GROUP:
                for resource in rule["resources"]:
                    assert f"{resource.partition('/')[0]}.{group}" in known


def test_who_may_look_may_not_enter() -> None:
    view = next(
        each
        for each in others(OPTIONS)
        if each["metadata"]["name"] == "kubevirt.io:view" and each["kind"] == "ClusterRole"
    )
    entered = {resource for rule in view["rules"] for resource in rule["resources"]}
    assert not entered & {*people.ENTERED, *people.PICTURED, *people.CHANGED}
    writes = {
        resource
        for rule in view["rules"]
        if set(rule["verbs"]) - {"get", "list", "watch"}
        for resource in rule["resources"]
    }
    assert writes == {"expand-vm-spec"}


def test_users_get_nothing_of_kubernetes_itself() -> None:
    for each in others(OPTIONS):
        if each["kind"] == "ClusterRole" and re.match(r".*kubevirt\.io:", each["metadata"]["name"]):
            for rule in each["rules"]:
                assert all(group.endswith("kubevirt.io") for group in rule["apiGroups"])


def test_roles_are_added_to_kubernetes_own_unless_told_otherwise() -> None:
    def labels(options: Options) -> set[str]:
        return {
            label
            for each in others(options)
            for label in each["metadata"].get("labels", {})
            if "aggregate-to" in label
        }

    prefix = "rbac.authorization.k8s.io/aggregate-to-"
    assert labels(OPTIONS) == {prefix + each for each in ("admin", "edit", "view")}
    assert labels(msgspec.structs.replace(OPTIONS, aggregates=False)) == set()


def test_what_others_serve_is_believed_by_our_authority_only() -> None:
    for each in others(OPTIONS):
        for hook in each.get("webhooks", ()):
            assert hook["clientConfig"]["caBundle"]
            is_advice = hook["name"].startswith(("kubevirt-create", "kubevirt-update"))
            assert hook["failurePolicy"] == ("Ignore" if is_advice else "Fail")
            assert hook["clientConfig"]["service"]["name"] == "virt-api"
        if each["kind"] == "APIService":
            assert each["spec"]["caBundle"]
            assert "insecureSkipTLSVerify" not in each["spec"]


def test_the_kubevirt_object_says_no_more_than_was_decided() -> None:
    plain = others(OPTIONS)[-1]
    developer = {"disabledFeatureGates": ["ImageVolume"], "useEmulation": False}
    assert plain["spec"] == {"configuration": {"developerConfiguration": developer}}
    chosen = configuration(is_emulated=True, has_image_volumes=True)
    spec = others(msgspec.structs.replace(OPTIONS, configuration=chosen))[-1]["spec"]
    assert spec == {"configuration": {"developerConfiguration": {"useEmulation": True}}}


def test_the_digest_is_another_when_anything_is() -> None:
    content = crds.contents()
    word = digest.digest(content, others(OPTIONS))
    assert word == digest.digest(content, others(OPTIONS))
    assert word != digest.digest(content[1:], others(OPTIONS))
    other = msgspec.structs.replace(OPTIONS, authority=b"another")
    assert word != digest.digest(content, others(other))
