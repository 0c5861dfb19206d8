"""A home with KubeVirt in it: its programs are tasks of the home's process, and nothing of them stays."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.process.conftest import Virtctl, a_home

from kubevirt.api.scheme import API_SERVICES, KUBEVIRTS, VIRTUAL_MACHINES
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.geteuid() != 0, reason="an embedded home is root's: run as root"),
]


def machine(name: str, strategy: str) -> dict[str, Any]:
    template = {"spec": {"domain": {"devices": {}, "memory": {"guest": "64Mi"}}}}
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"runStrategy": strategy, "template": template},
    }


@pytest.fixture
def virtctl() -> Iterator[Virtctl]:
    with a_home() as caller:
        yield replace(caller, has_kubevirt=True)


def client(home: Path) -> Client:
    return Client(kubeconfig.load([home / "kubeconfig"], {}))


async def test_it_is_installed_and_at_work_when_up_returns(virtctl: Virtctl) -> None:
    told = virtctl.up()
    assert "KubeVirt: installed" in told.err
    async with client(virtctl.home.path) as api:
        made = await api.create(VIRTUAL_MACHINES.raw, machine("idle", "Halted"))
        assert made["metadata"]["finalizers"]  # virt-api's hand
        with pytest.raises(ApiError, match=r"Invalid RunStrategy \(Sometimes\)"):
            await api.create(VIRTUAL_MACHINES.raw, machine("restless", "Sometimes"))
        for version in ("v1", "v1alpha3"):
            service = await api.get(API_SERVICES, f"{version}.subresources.kubevirt.io")
            assert {each.type: each.status for each in service.status.conditions} == {
                "Available": "True"
            }
        found = await api.get(KUBEVIRTS, "kubevirt", "kubevirt")
        assert found.spec.configuration.developer_configuration is not None
        assert "ImageVolume" in found.spec.configuration.developer_configuration.feature_gates
    assert json.loads(virtctl("status", "-o", "json").out)["kubevirt"]["phase"] in (
        "Deployed",
        "Deploying",
    )


async def test_a_home_that_is_brought_up_again_installs_nothing(virtctl: Virtctl) -> None:
    virtctl.up()
    async with client(virtctl.home.path) as api:
        await api.create(VIRTUAL_MACHINES.raw, machine("idle", "Halted"))
    virtctl.kill()
    assert "KubeVirt: installed" not in virtctl.up().err
    async with client(virtctl.home.path) as api:
        assert await api.get(VIRTUAL_MACHINES.raw, "idle", "default")
    assert virtctl("down").code == 0
    assert not (virtctl.home.path / "virt-api.sock").exists()
