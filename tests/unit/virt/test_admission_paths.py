"""The webhooks that an installation registers and virt-api answers."""

from kubevirt.api.core.admission import WebhookClientConfig
from kubevirt.virt import admission_paths
from kubevirt.virt.validate.missing import KINDS


def reach(path: str) -> WebhookClientConfig:
    return WebhookClientConfig(url=f"https://virt-api{path}")


def test_every_kind_that_nobody_acts_on_has_somebody_to_refuse_it() -> None:
    asked = {name for hook in admission_paths.UNBUILT for name in hook.resources}
    assert asked == set(KINDS)


def test_names_are_told_apart_and_paths_too() -> None:
    hooks = (*admission_paths.MUTATING, *admission_paths.VALIDATING, *admission_paths.UNBUILT)
    assert len({each.name for each in hooks}) == len(hooks)
    assert len({each.path for each in hooks}) == len(hooks)


def test_every_webhook_is_registered() -> None:
    names = [each.name for each in admission_paths.validating(reach).webhooks]
    assert names == [each.name for each in (*admission_paths.VALIDATING, *admission_paths.UNBUILT)]


def test_all_versions_of_a_kind_are_asked_about() -> None:
    hook = next(
        each
        for each in admission_paths.mutating(reach).webhooks
        if each.name == "virtualmachines-mutator.kubevirt.io"
    )
    (rule,) = hook.rules
    assert (rule.api_groups, rule.api_versions) == (("kubevirt.io",), ("v1", "v1alpha3"))
    assert (rule.operations, rule.resources) == (("CREATE", "UPDATE"), ("virtualmachines",))
    assert (hook.failure_policy, hook.timeout_seconds, hook.side_effects) == ("Fail", 10, "None")


def test_a_status_is_asked_about_by_its_subresource() -> None:
    hook = next(
        each
        for each in admission_paths.validating(reach).webhooks
        if each.name == "kubevirt-crd-status-validator.kubevirt.io"
    )
    found = {(rule.api_groups[0], rule.resources[0]) for rule in hook.rules}
    assert ("kubevirt.io", "virtualmachines/status") in found
    assert ("pool.kubevirt.io", "virtualmachinepools/status") in found


def test_nobody_waits_for_advice_and_nothing_passes_a_judge() -> None:
    found = {each.name: each.failure_policy for each in admission_paths.validating(reach).webhooks}
    advisers = {name for name, policy in found.items() if policy == "Ignore"}
    assert advisers == {
        "kubevirt-create-validator.kubevirt.io",
        "kubevirt-update-validator.kubevirt.io",
    }
    assert set(found.values()) == {"Fail", "Ignore"}
    mutators = admission_paths.mutating(reach).webhooks
    assert {each.failure_policy for each in mutators} == {"Fail"}
