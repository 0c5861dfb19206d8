"""Whose writes are counted: those of KubeVirt's programs, by the names that the API server knows them by."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubevirt.testing.writes import Write, writes
from kubevirt.virt.install import rights
from kubevirt.virt.install.options import NAMESPACE

ACCOUNT = f"system:serviceaccount:{NAMESPACE}:"


def line(user: str, resource: str, subresource: str = "", verb: str = "patch") -> dict[str, Any]:
    return {
        "verb": verb,
        "requestReceivedTimestamp": "2026-11-19T04:00:00.000000Z",
        "stageTimestamp": "2026-11-19T04:00:00.002000Z",
        "user": {"username": user},
        "objectRef": {"resource": resource, "subresource": subresource, "namespace": "default"},
        "responseStatus": {"code": 200},
    }


def read(tmp_path: Path, *lines: dict[str, Any]) -> list[Write]:
    log = tmp_path / "audit.log"
    log.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in lines))
    return writes(log)


@pytest.mark.parametrize("account", [rights.API, rights.CONTROLLER, rights.HANDLER])
def test_what_a_program_writes_is_counted(tmp_path: Path, account: str) -> None:
    """Those of virt-api were not, for want of its name."""
    [found] = read(tmp_path, line(ACCOUNT + account, "virtualmachines", "status"))
    assert found.is_of_kubevirt
    assert found.words == f"{account} patch virtualmachines/status"


@pytest.mark.parametrize("resource", ["events", "leases", "subjectaccessreviews"])
def test_what_a_life_may_cost_in_any_case_is_not_counted(tmp_path: Path, resource: str) -> None:
    [found] = read(tmp_path, line(ACCOUNT + rights.API, resource, verb="create"))
    assert not found.is_of_kubevirt


def test_what_others_write_is_not_counted(tmp_path: Path) -> None:
    users = ("kubernetes-admin", "system:node:here", "system:kube-scheduler")
    assert not any(
        each.is_of_kubevirt for each in read(tmp_path, *(line(u, "pods") for u in users))
    )


def test_what_only_reads_is_no_write(tmp_path: Path) -> None:
    assert read(tmp_path, line(ACCOUNT + rights.API, "pods", verb="list")) == []
