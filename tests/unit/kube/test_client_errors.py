"""Which error an answer becomes, and that its words help."""

from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.api.meta import Status, StatusCause, StatusDetails
from kubevirt.api.resource import Resource
from kubevirt.base.errors import Retry, UserError
from kubevirt.kube import errors
from kubevirt.kube.errors import ApiError, ApplyConflict, NoSuchResource, NotAnApi, from_status
from kubevirt.kube.http.answers import Answer, error_of

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SERVER = "https://lab:6443"
LAMPS = Resource("house.example", "v1", "lamps", "Lamp", True, dict[str, Any])


def answer(code: int, body: str = "", content_type: str = "text/plain", **more: str) -> Answer:
    return Answer(
        code=code, content_type=content_type, body=body.encode(), path="/apis/x/y", **more
    )


def error(given: Answer, **about: Any) -> ApiError | NotAnApi:
    return error_of(given, NOW, server=SERVER, **about)


@pytest.mark.parametrize(
    ("code", "reason", "name"),
    [
        (400, "BadRequest", "BadRequest"),
        (401, "Unauthorized", "Unauthorized"),
        (403, "Forbidden", "Forbidden"),
        (404, "NotFound", "NotFound"),
        (405, "MethodNotAllowed", "MethodNotAllowed"),
        (406, "NotAcceptable", "NotAcceptable"),
        (409, "AlreadyExists", "AlreadyExists"),
        (409, "Conflict", "Conflict"),
        (410, "Gone", "Gone"),
        (410, "Expired", "Expired"),
        (413, "RequestEntityTooLarge", "TooLarge"),
        (415, "UnsupportedMediaType", "UnsupportedMediaType"),
        (422, "Invalid", "Invalid"),
        (429, "TooManyRequests", "TooManyRequests"),
        (500, "InternalError", "InternalError"),
        (500, "ServerTimeout", "ServerTimeout"),
        (500, "StoreReadError", "InternalError"),
        (503, "ServiceUnavailable", "ServiceUnavailable"),
        (504, "Timeout", "ServerTimeout"),
        # Without a reason that is known, the code decides.
        (409, "", "Conflict"),
        (410, "", "Expired"),
        (418, "Teapot", "Refused"),
        (429, "", "TooManyRequests"),
        (502, "", "InternalError"),
        (504, "", "ServerTimeout"),
    ],
)
def test_the_reason_decides_and_the_code_where_there_is_none(
    code: int, reason: str, name: str
) -> None:
    error = from_status(Status(code=code, reason=reason, message="why"))
    assert type(error) is getattr(errors, name)
    assert error.code == code
    assert str(error) == "why"


@given(st.integers(400, 599), st.sampled_from([*errors.BY_REASON, "", "New"]))
def test_every_error_is_either_the_users_or_worth_another_try(code: int, reason: str) -> None:
    error = from_status(Status(code=code, reason=reason))
    assert isinstance(error, UserError) != isinstance(error, Retry)
    assert str(error)
    assert error.reason


def test_an_apply_conflict_names_fields_and_managers() -> None:
    cause = StatusCause(
        reason="FieldManagerConflict", message='conflict with "ann" using v1', field=".data.x"
    )
    error = from_status(Status(code=409, reason="Conflict", details=StatusDetails(causes=(cause,))))
    assert isinstance(error, ApplyConflict)
    assert error.owners == {".data.x": "ann"}
    assert error.has_cause("FieldManagerConflict")


def test_a_status_is_repeated_in_its_own_words() -> None:
    body = '{"kind": "Status", "code": 403, "reason": "Forbidden", "message": "ann may not"}'
    found = error(answer(403, body, "application/json"))
    assert type(found) is errors.Forbidden
    assert str(found) == "ann may not"
    assert found.reason == "Forbidden"


def test_an_object_that_is_missing_differs_from_a_kind_that_is() -> None:
    body = '{"kind": "Status", "code": 404, "reason": "NotFound", "message": "no hall",'
    there = error(answer(404, body + '"details": {"name": "hall"}}', "application/json"))
    assert type(there) is errors.NotFound
    absent = error(answer(404, body + '"details": {}}', "application/json"), resource=LAMPS)
    assert type(absent) is NoSuchResource
    assert str(absent) == (
        "https://lab:6443 has no lamps.house.example in version v1; install the component that"
        " brings it (its CustomResourceDefinition), or see what there is with:"
        " kubectl api-resources --api-group=house.example"
    )


def test_a_missing_subresource_and_a_missing_path_are_named() -> None:
    nothing = answer(404, "404 page not found")
    assert "no subresource scale of lamps.house.example in version v1" in str(
        error(nothing, resource=LAMPS, subresource="scale")
    )
    assert "https://lab:6443 has no /apis/x/y" in str(error(nothing))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (answer(403, "<html>log in", "text/html"), "a web page (code 403)"),
        (answer(302, "", "text/html"), "a redirect to another address"),
        (answer(400, "Client sent an HTTP request to an HTTPS server.\n"), "https://"),
    ],
)
def test_a_server_that_is_no_kubernetes_is_known_by_its_answers(given: Answer, found: str) -> None:
    error_found = error(given)
    assert isinstance(error_found, NotAnApi)
    assert found in str(error_found)
    assert "https://lab:6443 is not a Kubernetes API" in str(error_found)


def test_a_load_balancer_without_a_server_behind_it_is_waited_for() -> None:
    found = error(answer(503, "<html>sorry", "text/html"))
    assert type(found) is errors.ServiceUnavailable
    assert "answered 503 (Service Unavailable) to /apis/x/y" in str(found)


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "text/html"])
@pytest.mark.parametrize("code", [400, 401, 403, 404, 500, 503, 599])
def test_a_body_that_is_no_status_is_never_repeated(code: int, content_type: str) -> None:
    for body in (
        "s3cr3t",
        '{"message": "s3cr3t"}',
        '{"kind": "Secret", "message": "s3cr3t"}',
        '"s3cr3t"',
        '{"kind": 7}',
    ):
        assert "s3cr3t" not in str(error(answer(code, body, content_type)))


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("", 0.0),
        ("99999999", 3600.0),
        ("soon", 0.0),
        ("-5", 0.0),
        ("²", 0.0),
        (format_datetime(datetime(2030, 1, 1, 0, 1, tzinfo=UTC), usegmt=True), 60.0),
        (format_datetime(datetime(2029, 1, 1, tzinfo=UTC), usegmt=True), 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date_within_bounds(header: str, seconds: float) -> None:
    found = error(answer(429, retry_after=header))
    assert isinstance(found, errors.TooManyRequests)
    assert found.after_s == seconds


def test_the_longer_of_header_and_details_counts() -> None:
    body = '{"kind": "Status", "code": 429, "details": {"retryAfterSeconds": 9}}'
    found = error(answer(429, body, "application/json", retry_after="3"))
    assert isinstance(found, errors.TooManyRequests)
    assert found.after_s == 9.0
