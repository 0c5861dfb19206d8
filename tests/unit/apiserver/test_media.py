"""Which form an answer takes."""

import pytest

from kubevirt.apiserver.http.media import JSON, PARTIAL, TABLE, YAML, Form, chosen

AS_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
OF_KUBECTL = f"{AS_TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (None, Form(JSON)),
        ("", Form(JSON)),
        ("*/*", Form(JSON)),
        ("application/*", Form(JSON)),
        ("application/yaml", Form(YAML)),
        ("text/html, application/xml;q=0.9, */*;q=0.8", Form(JSON)),
        ("application/yaml;q=0.5,application/json", Form(JSON)),
        (OF_KUBECTL, Form(JSON, TABLE, "v1")),
        ("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", Form(JSON, PARTIAL, "v1")),
        ("application/vnd.kubernetes.protobuf,application/json", Form(JSON)),
        ('application/json;as="Table";g=meta.k8s.io;v=v1', Form(JSON, TABLE, "v1")),
        ("application/json;as=Table;g=other;v=v1,application/yaml", Form(YAML)),
    ],
)
def test_the_first_that_can_be_had_is_taken(accept: str | None, form: Form) -> None:
    assert chosen(accept, (TABLE, PARTIAL)) == form


@pytest.mark.parametrize(
    "accept",
    ["text/plain", "application/vnd.kubernetes.protobuf", "application/json;q=0", AS_TABLE],
)
def test_what_cannot_be_had_is_refused(accept: str) -> None:
    assert chosen(accept) is None


def test_kubectl_falls_back_to_the_object() -> None:
    assert chosen(OF_KUBECTL) == Form(JSON)
