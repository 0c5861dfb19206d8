"""Pods, as a real server fills them in and refuses them. Nothing is stored: every pod is a dry run."""

import pytest
from tests.contract.oracle import Oracle
from tests.contract.pod_cases import FILLED_IN, REFUSED

from kubevirt.kube.client import Client

PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
async def oracle(client: Client, records_answers: bool) -> Oracle:  # noqa: FBT001
    return Oracle("pods", client, records=records_answers)


@pytest.mark.parametrize("name", FILLED_IN)
async def test_a_pod_is_filled_in(oracle: Oracle, an_account: None, name: str) -> None:
    await oracle.created(name, PODS, FILLED_IN[name], like=next(iter(FILLED_IN)))


@pytest.mark.parametrize("name", REFUSED)
async def test_a_pod_is_refused(oracle: Oracle, an_account: None, name: str) -> None:
    await oracle.created(f"refused: {name}", PODS, REFUSED[name])
