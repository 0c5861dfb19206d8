"""Reviews: the answers of this package as objects, for `kubectl auth can-i`, webhooks and aggregated servers.

Each takes the object that was posted and gives the object to answer with; none is ever stored.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.apiserver.auth.authentication import Authentication
from kubevirt.apiserver.auth.authorization import Authorization
from kubevirt.apiserver.auth.credentials import BadCredentials
from kubevirt.apiserver.auth.nodes.authorizer import node_name
from kubevirt.apiserver.auth.tokens import UNKNOWN
from kubevirt.apiserver.http import field_selectors
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.http.field_selectors import Term
from kubevirt.apiserver.refusals import Refusal, bad_request, refusal
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.schema import field_errors
from kubevirt.apiserver.schema.field_errors import FieldError

GROUP: Final = "authorization.k8s.io"
Object = Mapping[str, Any]
Answer = dict[str, Any]


def subject_access(review: Object, authorization: Authorization) -> Answer:
    _check([*_flaws(review, of_somebody=True), *_flaws_of_metadata(review, "must be empty")])
    return _decided(review, authorization, _subject(review["spec"]))


def local_subject_access(review: Object, authorization: Authorization) -> Answer:
    """Its namespace is that of the request."""
    namespace = review["metadata"].get("namespace", "")
    flaws = [
        *_flaws(review, of_somebody=True),
        *_flaws_of_metadata(review, "must be empty except for namespace", besides="namespace"),
    ]
    spec = review.get("spec") or {}
    wanted = spec.get("resourceAttributes")
    if wanted is not None and wanted.get("namespace", "") != namespace:
        where, given = "spec.resourceAttributes.namespace", wanted.get("namespace", "")
        flaws.append(field_errors.invalid(where, given, "must match metadata.namespace"))
    if spec.get("nonResourceAttributes") is not None:
        where, given = "spec.nonResourceAttributes", _as_go_has_it(spec["nonResourceAttributes"])
        flaws.append(field_errors.invalid(where, given, "disallowed on this kind of request"))
    _check(flaws)
    return _decided(review, authorization, _subject(spec))


def self_subject_access(review: Object, authorization: Authorization, identity: Identity) -> Answer:
    flaws = [*_flaws(review, of_somebody=False), *_flaws_of_metadata(review, "must be empty")]
    _check(flaws)
    return _decided(review, authorization, identity)


def self_subject_rules(review: Object, authorization: Authorization, identity: Identity) -> Answer:
    namespace = (review.get("spec") or {}).get("namespace", "")
    if not namespace:
        raise bad_request("no namespace on request")
    resources, paths = [], []
    for rule in authorization.policy.rules_for(identity, namespace):
        shown = rule.as_object()
        verbs = {"verbs": shown.pop("verbs", [])}
        urls = shown.pop("nonResourceURLs", None)
        if rule.resources:
            resources.append({**verbs, **shown})
        if urls:
            paths.append({**verbs, "nonResourceURLs": urls})
    status: Answer = {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}
    problems = []
    if node_name(identity) is not None:
        # What a node may do depends on its pods, which no list of rules can tell.
        status["incomplete"] = True
        problems.append("node authorizer does not support user rule resolution")
    holdings = authorization.policy.holdings(identity, namespace)
    if holdings.errors:
        problems.append(holdings.problem)
    if problems:
        status["evaluationError"] = (
            problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        )
    return {**review, "metadata": {}, "spec": {}, "status": status}


def self_subject(review: Object, identity: Identity, now: datetime) -> Answer:
    metadata = {"creationTimestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}"}
    answer = {name: value for name, value in review.items() if name != "spec"}
    return {**answer, "metadata": metadata, "status": {"userInfo": user_info(identity)}}


async def token(review: Object, authentication: Authentication) -> Answer:
    spec = review.get("spec") or {}
    if not spec.get("token"):
        raise bad_request("token is required for TokenReview in authentication")
    status: Answer
    try:
        verified = await authentication.verify_token(spec["token"], spec.get("audiences") or ())
    except BadCredentials as error:
        said = str(error)
        status = {"user": {}, "error": said if said == UNKNOWN else f"[{UNKNOWN}, {said}]"}
    else:
        status = {
            "authenticated": True,
            "user": user_info(verified.identity),
            "audiences": list(verified.audiences),
        }
    return {**review, "status": status}


def user_info(identity: Identity) -> Answer:
    """As it stands in reviews, admission requests and the audit log."""
    found: Answer = {"username": identity.user}
    if identity.uid:
        found["uid"] = identity.uid
    if identity.groups:
        found["groups"] = list(identity.groups)
    if identity.extra:
        found["extra"] = {key: list(values) for key, values in identity.extra.items()}
    return found


# What is asked


def _subject(spec: Object) -> Identity:
    return Identity(
        user=spec.get("user", ""),
        uid=spec.get("uid", ""),
        groups=tuple(spec.get("groups") or ()),
    )


def _asked(spec: Object) -> Asked:
    if (path := spec.get("nonResourceAttributes")) is not None:
        return Asked(verb=path.get("verb", ""), path=path.get("path", ""))
    wanted = spec["resourceAttributes"]
    names = ("group", "version", "namespace", "resource", "subresource", "name")
    return Asked(
        verb=wanted.get("verb", ""),
        path="",
        is_resource=True,
        fields=_fields(wanted.get("fieldSelector") or {}),
        **{name: wanted.get(name, "") for name in names},
    )


def _fields(selector: Object) -> tuple[Term, ...]:
    """What we do not understand is left out, which asks for more, not less."""
    if selector.get("rawSelector"):
        return tuple(field_selectors.readable(str(selector["rawSelector"])))
    return tuple(
        Term(each.get("key", ""), each["values"][0], is_equal=True)
        for each in selector.get("requirements") or ()
        if each.get("operator") == "In" and len(each.get("values") or ()) == 1
    )


def _decided(review: Object, authorization: Authorization, identity: Identity) -> Answer:
    decision = authorization.authorize(_asked(review["spec"]), identity)
    status: Answer = {"allowed": decision.allowed}
    if decision.reason:
        status["reason"] = decision.reason
    return {**review, "status": status}


# What is wrong with it


def _flaws(review: Object, *, of_somebody: bool) -> Iterator[FieldError]:
    spec = review.get("spec") or {}
    wanted, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if wanted is not None and path is not None:
        detail = "cannot be specified in combination with resourceAttributes"
        yield field_errors.invalid("spec.nonResourceAttributes", _as_go_has_it(path), detail)
    if wanted is None and path is None:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield field_errors.invalid("spec.resourceAttributes", None, detail)
    if of_somebody and not spec.get("user") and not spec.get("groups"):
        detail = "at least one of user or group must be specified"
        yield field_errors.invalid("spec.user", "", detail)


def _flaws_of_metadata(review: Object, detail: str, *, besides: str = "") -> Iterator[FieldError]:
    metadata = review.get("metadata") or {}
    if any(value for name, value in metadata.items() if name not in {"managedFields", besides}):
        yield field_errors.invalid("metadata", dict(metadata), detail)


def _as_go_has_it(path: Object) -> Answer:
    """The names of the server's own structure, which it shows here."""
    return {"Path": path.get("path", ""), "Verb": path.get("verb", "")}


def _check(flaws: Sequence[FieldError]) -> None:
    if flaws:
        raise _invalid(flaws)


def _invalid(flaws: Sequence[FieldError]) -> Refusal:
    causes = tuple(
        StatusCause(reason=each.reason, message=each.message, field=each.field) for each in flaws
    )
    # Kubernetes has forgotten the kind by now, and says so.
    message = field_errors.invalid_message(f".{GROUP}", "", flaws)
    details = StatusDetails(group=GROUP, causes=causes)
    return refusal(422, "Invalid", message, details=details)
