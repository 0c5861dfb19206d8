"""The `kubernetes` and `lightkube` packages, set up as their users do: from a kubeconfig."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import lightkube
import pytest
from kubernetes import aio, client, config
from lightkube.config import kubeconfig
from tests.contract.conftest import Server


@pytest.fixture
def api(server: Server) -> Iterator[Any]:
    """The administrator's, of the `kubernetes` package."""
    with config.new_client_from_config(config_file=str(server.kubeconfig)) as made:
        yield made


@pytest.fixture
def core(api: Any) -> Any:
    return client.CoreV1Api(api)


@pytest.fixture
async def aio_api(server: Server) -> AsyncIterator[Any]:
    """The same package's, for asyncio."""
    made = await aio.config.new_client_from_config(config_file=str(server.kubeconfig))
    async with made:
        yield made


@pytest.fixture
def light(server: Server, namespace: str) -> Iterator[Any]:
    """The administrator's, of `lightkube`, at home in the test's namespace."""
    known = kubeconfig.KubeConfig.from_file(str(server.kubeconfig)).get()
    with lightkube.Client(config=known, namespace=namespace, field_manager="light") as made:
        yield made


@pytest.fixture
async def async_light(server: Server, namespace: str) -> AsyncIterator[Any]:
    known = kubeconfig.KubeConfig.from_file(str(server.kubeconfig)).get()
    made = lightkube.AsyncClient(config=known, namespace=namespace, field_manager="light")
    async with made:
        yield made
