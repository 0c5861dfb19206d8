"""Our tables of built-in kinds against what a server says of itself, and its sources."""

import pytest
from scripts import builtin_kinds as survey
from scripts import wire_numbers

from clusterup import errors
from kubevirt.kube.client import Client


async def test_fields_types_and_how_they_merge_are_those_of_the_server(client: Client) -> None:
    async def get(path: str) -> bytes:
        return await client.raw("GET", path)

    assert await survey.types_table(get) == (survey.TABLES / "types.txt").read_text()


async def test_names_scopes_verbs_and_subresources_are_those_of_the_server(client: Client) -> None:
    async def get(path: str) -> bytes:
        return await client.raw("GET", path)

    assert await survey.resources_table(get) == (survey.TABLES / "resources.txt").read_text()


def test_numbers_in_protobuf_are_those_of_the_sources() -> None:
    try:
        found = wire_numbers.wire_table(survey.bodies(), survey.type_names())
    except (wire_numbers.SourcesMissingError, errors.Missing) as reason:
        pytest.skip(str(reason))
    assert found == (survey.TABLES / "wire.txt").read_text()
