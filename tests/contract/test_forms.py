"""Forms in which objects go in and come out: JSON, YAML, and what is neither."""

from typing import Any

import msgspec
import pytest
import yaml

from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

YAML = "application/yaml"
APPLY = "application/apply-patch+yaml"


def a_manifest(**data: Any) -> msgspec.Raw:
    """Text that no JSON reader takes."""
    values = "\n".join(f"  {name}: {value}" for name, value in data.items())
    text = f"""
# Written by hand.
apiVersion: v1
kind: ConfigMap
metadata: {{name: written, labels: {{a: "1"}}}}
data:
{values}
"""
    return msgspec.Raw(text.encode())


@pytest.fixture
def maps(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps"


async def test_yaml_is_created_replaced_and_applied(client: Client, maps: str) -> None:
    text = a_manifest(a='"1"', lines="|\n    one\n    two")
    made = msgspec.json.decode(await client.raw("POST", maps, text, content_type=YAML))
    assert made["data"] == {"a": "1", "lines": "one\ntwo\n"}
    text = a_manifest(b="'2'")
    path = f"{maps}/written"
    replaced = msgspec.json.decode(await client.raw("PUT", path, text, content_type=YAML))
    assert replaced["data"] == {"b": "2"}
    applied = await client.raw(
        "PATCH", path, a_manifest(c="three"), params={"fieldManager": "ann"}, content_type=APPLY
    )
    assert msgspec.json.decode(applied)["data"] == {"b": "2", "c": "three"}


async def test_yaml_is_what_comes_back_if_asked_for(client: Client, maps: str) -> None:
    await client.raw("POST", maps, a_manifest(a='"1"', odd='"- x: [y"'), content_type=YAML)
    as_yaml = yaml.safe_load(await client.raw("GET", f"{maps}/written", accept=YAML))
    as_json = msgspec.json.decode(await client.raw("GET", f"{maps}/written"))
    assert as_yaml == as_json
    listed = yaml.safe_load(await client.raw("GET", maps, accept=YAML))
    assert listed["kind"] == "ConfigMapList"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1", 422),
        ("", 422),
        ("[1, 2]", 400),
        ("just words", 400),
        ("apiVersion: v1\nkind: Secret\n", 400),
        ("a: [", 400),
        ("kind: 5", 400),
    ],
)
async def test_yaml_that_is_no_config_map_is_refused(
    client: Client, maps: str, text: str, code: int
) -> None:
    with pytest.raises(ApiError) as refused:
        await client.raw("POST", maps, msgspec.Raw(text.encode()), content_type=YAML)
    assert refused.value.status.code == code


@pytest.mark.parametrize("form", ["text/plain", "application/xml", "image/png", "nonsense"])
async def test_other_forms_are_not_taken(client: Client, maps: str, form: str) -> None:
    with pytest.raises(ApiError) as refused:
        await client.raw("POST", maps, a_manifest(a="b"), content_type=form)
    assert (refused.value.status.code, refused.value.status.reason) == (
        415,
        "UnsupportedMediaType",
    )
