"""How a CRD says its objects get from one version to another. Here they only change their apiVersion."""

from collections.abc import Iterator, Sequence
from typing import Final

from kubevirt.apiserver.registry.rules import checks, webhook_clients
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import FieldError, forbidden, invalid, required

NONE: Final = "None"
WEBHOOK: Final = "Webhook"
_AT: Final = "spec.conversion"
_REVIEWS: Final = ("v1", "v1beta1")
_NOT_HERE: Final = (
    "this server asks no webhook to convert objects: say None, with versions that differ in nothing"
    " that an object holds, or serve one version"
)


def errors(conversion: Object) -> list[FieldError]:
    strategy = conversion.get("strategy", "")
    found = list(checks.one_of(f"{_AT}.strategy", strategy, (NONE, WEBHOOK), needed=""))
    webhook = conversion.get("webhook")
    if strategy == WEBHOOK:
        found += _of_webhook(webhook or {})
        return found or [forbidden(f"{_AT}.strategy", _NOT_HERE)]
    words = "should not be set when strategy is not set to Webhook"
    if (webhook or {}).get("clientConfig") is not None:
        found.append(forbidden(f"{_AT}.webhookClientConfig", words))
    if (webhook or {}).get("conversionReviewVersions"):
        found.append(forbidden(f"{_AT}.conversionReviewVersions", words))
    return found


def _of_webhook(webhook: Object) -> Iterator[FieldError]:
    client = webhook.get("clientConfig")
    at = f"{_AT}.webhookClientConfig"
    if client is None:
        yield required(at, "required when strategy is set to Webhook")
    else:
        yield from webhook_clients.errors(client, at)
    versions = webhook.get("conversionReviewVersions") or []
    yield from _of_reviews(versions, f"{_AT}.conversionReviewVersions")


def _of_reviews(versions: Sequence[str], at: str) -> Iterator[FieldError]:
    if not versions:
        yield required(at)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"{at}[{index}]", version, "duplicate version")
        else:
            yield from checks.named(f"{at}[{index}]", version, names.label_1035)
    if not set(versions) & set(_REVIEWS):
        yield invalid(at, list(versions), f"must include at least one of {', '.join(_REVIEWS)}")
