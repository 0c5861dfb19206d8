"""CRDs that Kubernetes would take and this server cannot keep its word about."""

from tests.contract.definition_cases import WEBHOOK, with_conversion

from kubevirt.apiserver.registry.rules.definitions import DefinitionRules


def test_a_conversion_that_nobody_would_make_is_refused() -> None:
    rules = DefinitionRules()

    errors = rules.errors(rules.defaulted(with_conversion("Webhook", **WEBHOOK)))

    assert [each.field for each in errors] == ["spec.conversion.strategy"]
    assert "asks no webhook to convert objects" in errors[0].message
