"""What one pod has written another reads from a copy."""

from typing import Any

import pytest
from tests.component.embedded.process.conftest import Virtctl
from tests.component.embedded.process.pods import api, log, pod, ready, told, until

from kubevirt.api.scheme import PERSISTENT_VOLUME_CLAIMS, PODS

pytestmark = pytest.mark.timeout(240)
WRITES = "echo precious >/data/file; sleep 1000 & wait $!"


def a_claim(name: str, **spec: Any) -> dict[str, Any]:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
    return {"metadata": {"name": name}, "spec": {**asked, **spec}}


def using(claim: str, script: str) -> dict[str, Any]:
    """A pod of the same name."""
    made = pod(claim, script, policy="Never")
    made["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    made["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    return made


async def test_a_claim_is_copied_for_a_pod_once_nobody_writes_to_the_source(
    virtctl: Virtctl,
) -> None:
    virtctl.up()
    async with api(virtctl) as client:
        await client.create(PERSISTENT_VOLUME_CLAIMS, a_claim("old"), "default")
        await client.create(PODS, using("old", WRITES), "default")
        await ready(client, "old")
        source = {"kind": "PersistentVolumeClaim", "name": "old"}
        await client.create(PERSISTENT_VOLUME_CLAIMS, a_claim("new", dataSource=source), "default")
        await client.create(PODS, using("new", "cat /data/file"), "default")
        why = await told(client, "new", "ProvisioningFailed")
        assert why.endswith("the PVC DataSource old is in use by a pod")

        await client.delete(PODS, "old", "default")

        await until(client, "new", lambda found: found.status.phase == "Succeeded")
        assert [each.strip() for each in await log(client, "new")] == ["precious"]
