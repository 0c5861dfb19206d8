"""What kubectl finds of the calls."""

import json

from tests.component.virtapi.machines import Machines
from tests.component.virtapi.place import GROUP_PATH

from clusterup import waiting
from kubevirt.virt.commands.calls import BUILT


async def test_kubectl_finds_the_calls(machines: Machines) -> None:
    for version in ("v1", "v1alpha3"):
        said = await machines.kubectl("get", "--raw", f"{GROUP_PATH}/{version}")
        assert said.code == 0, said.stderr
        found = json.loads(said.stdout)
        assert found["groupVersion"] == f"subresources.kubevirt.io/{version}"
        assert {each["name"] for each in found["resources"]} == {each.name for each in BUILT}


async def test_the_group_is_among_the_others(machines: Machines) -> None:
    said = await machines.kubectl("api-versions")
    assert "subresources.kubevirt.io/v1\n" in said.stdout
    assert "subresources.kubevirt.io/v1alpha3\n" in said.stdout
    said = await machines.kubectl("get", "--raw", "/apis")
    group = next(
        each
        for each in json.loads(said.stdout)["groups"]
        if each["name"] == "subresources.kubevirt.io"
    )
    assert group["preferredVersion"]["version"] == "v1"


async def test_open_api_has_the_paths(machines: Machines) -> None:
    """Kubernetes fetches them from time to time."""
    start = f"{GROUP_PATH}/v1/namespaces/{{namespace}}/virtualmachines/{{name}}/start"

    async def is_there() -> bool:
        said = await machines.kubectl("get", "--raw", f"/openapi/v3{GROUP_PATH}/v1")
        return said.code == 0 and start in json.loads(said.stdout)["paths"]

    await waiting.until(is_there, limit_s=120, what="the paths are told")


async def test_the_version_is_told_to_everybody(machines: Machines) -> None:
    nobody = machines.place.server.kubeconfig_for("nobody")
    said = await machines.kubectl("get", "--raw", f"{GROUP_PATH}/v1/version", user=nobody)
    assert json.loads(said.stdout)["gitVersion"].startswith("v")


async def test_it_knows_whether_it_reaches_the_server(machines: Machines) -> None:
    said = await machines.kubectl("get", "--raw", f"{GROUP_PATH}/v1/healthz")
    assert json.loads(said.stdout)["apiserver"]["connectivity"] == "ok"


async def test_there_is_no_guestfs(machines: Machines) -> None:
    said = await machines.kubectl("get", "--raw", f"{GROUP_PATH}/v1/guestfs")
    assert said.code == 1
    assert "not built yet: virtctl guestfs" in said.stderr
