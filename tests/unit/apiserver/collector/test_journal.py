"""What the collector does is found in the audit log, under the names of Kubernetes' own controllers."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collecting import HOME, World

from kubevirt.apiserver.auth.audit_log import AuditLog, AuditLogSettings
from kubevirt.apiserver.collector.collector import CollectorSettings
from kubevirt.apiserver.collector.journal import AuditJournal
from kubevirt.base.clock import Clock

pytestmark = pytest.mark.virtual_time

ACCOUNT = "system:serviceaccount:kube-system"


async def test_every_deed_is_written_down(clock: Clock, tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    with AuditLog(AuditLogSettings(path=path)) as log:
        settings = CollectorSettings(root_ca="PEM")
        async with World(clock, settings, journal=AuditJournal(log, clock)) as world:
            owner, other = await world.create("owner"), await world.create("other")
            await world.create("part", owner)
            await world.create("shared", owner, other)
            await world.delete("owner")
            await world.settle()
            await world.delete(HOME, plural="namespaces", namespace="")
            await world.settle()
    found = {_deed(json.loads(line)) for line in path.read_text().splitlines()}
    inside = f"/api/v1/namespaces/{HOME}"
    assert found == {
        ("service-account-controller", "create", f"{inside}/serviceaccounts", 201),
        ("root-ca-cert-publisher", "create", f"{inside}/configmaps", 201),
        ("generic-garbage-collector", "delete", f"{inside}/configmaps/part", 200),
        ("generic-garbage-collector", "patch", f"{inside}/configmaps/shared", 200),
        ("namespace-controller", "deletecollection", f"{inside}/configmaps", 200),
        ("namespace-controller", "deletecollection", f"{inside}/serviceaccounts", 200),
        ("namespace-controller", "patch", f"{inside}/status", 200),
        ("namespace-controller", "update", f"{inside}/finalize", 200),
    }


async def test_a_deed_that_was_refused_is_written_down_as_such(
    clock: Clock, tmp_path: Path
) -> None:
    path = tmp_path / "audit.log"
    with AuditLog(AuditLogSettings(path=path)) as log:
        settings = CollectorSettings(root_ca="PEM")
        async with World(clock, settings, journal=AuditJournal(log, clock)) as world:
            await world.delete("kube-root-ca.crt")
            false = {"metadata": {"name": "kube-root-ca.crt"}, "data": {}, "immutable": True}
            await world.make("configmaps", false)
            await world.settle()
    last = json.loads(path.read_text().splitlines()[-1])
    update = f"/api/v1/namespaces/{HOME}/configmaps/kube-root-ca.crt"
    assert _deed(last) == ("root-ca-cert-publisher", "update", update, 422)
    assert "field is immutable" in last["responseStatus"]["message"]


def _deed(event: dict[str, Any]) -> tuple[str, str, str, int]:
    user = event["user"]["username"]
    assert user.startswith(f"{ACCOUNT}:")
    name = user.removeprefix(f"{ACCOUNT}:")
    return name, event["verb"], event["requestURI"], event["responseStatus"]["code"]
