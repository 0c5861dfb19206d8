"""Watches and waits of the `lightkube` package."""

from contextlib import closing
from itertools import islice
from typing import Any

import lightkube
import pytest
from lightkube import ApiError
from lightkube.config import kubeconfig
from lightkube.core.exceptions import ConditionError
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.operators import not_equal
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import on_error_retry
from tests.contract.conftest import Mortal, config_of
from tests.contract.forgetting import until_forgotten
from tests.contract.lamps import CONFIG_MAPS, LAMP_CRD, a_config_map

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client

LIMIT_S = 120
ROOTS = "kube-root-ca.crt"
"""A config map that is in every namespace sooner or later."""


def told(light: Any, count: int, version: str | None) -> list[tuple[str, str, str]]:
    stream = light.watch(
        ConfigMap,
        fields={"metadata.name": not_equal(ROOTS)},
        resource_version=version,
        server_timeout=LIMIT_S,
    )
    with closing(stream):
        return [
            (type_, it.metadata.name, it.metadata.resourceVersion)
            for type_, it in islice(stream, count)
        ]


def test_a_watch_tells_what_happens_and_resumes(light: Any) -> None:
    listed = light.list(ConfigMap)
    list(listed)
    for name in ("one", "two"):
        light.create(ConfigMap(metadata=ObjectMeta(name=name)))
    light.delete(ConfigMap, "one")
    first = told(light, 2, listed.resourceVersion)
    assert [each[:2] for each in first] == [("ADDED", "one"), ("ADDED", "two")]
    assert [each[:2] for each in told(light, 1, first[-1][2])] == [("DELETED", "one")]
    assert [each[:2] for each in told(light, 1, None)] == [("ADDED", "two")]


@pytest.mark.timeout(600)  # two starts of a server of its own
async def test_history_that_is_gone_is_410_or_begun_again(forgetful: Mortal) -> None:
    async with Client(config_of(forgetful.kubeconfig)) as own:
        version = (await own.list(CONFIG_MAPS, "default")).resource_version
        await own.create(CONFIG_MAPS, a_config_map("later"), "default")
        await until_forgotten(own, version)
    await forgetful.kill_apiserver()
    await forgetful.start_apiserver()
    known = kubeconfig.KubeConfig.from_file(str(forgetful.kubeconfig)).get()
    options = {"resource_version": version, "fields": {"metadata.name": "later"}}
    with lightkube.Client(config=known, namespace="default") as light:
        with (
            closing(light.watch(ConfigMap, **options)) as stream,
            pytest.raises(ApiError, match="too old resource version") as refused,
        ):
            next(stream)
        status = refused.value.status
        assert (status.code, status.reason) == (410, "Expired")
        with closing(light.watch(ConfigMap, **options, on_error=on_error_retry)) as stream:
            type_, found = next(stream)
        assert (type_, found.metadata.name) == ("ADDED", "later")


def test_conditions_are_waited_for(light: Any, lamps: Resource[dict[str, Any]]) -> None:
    name = LAMP_CRD["metadata"]["name"]
    found = light.wait(CustomResourceDefinition, name, for_conditions=["Established"])
    assert found.spec.names.kind == lamps.kind
    with pytest.raises(ConditionError, match=f"{name} has failure condition"):
        light.wait(
            CustomResourceDefinition,
            name,
            for_conditions=["NeverSo"],
            raise_for_conditions=["NamesAccepted"],
        )
