"""What is written down, what never is, and a log that holds nobody up."""

import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests import wire_encoder

from kubevirt.apiserver.auth import audit
from kubevirt.apiserver.auth.audit_log import AuditLog, AuditLogSettings
from kubevirt.apiserver.auth.authentication import Caller
from kubevirt.apiserver.auth.decision import Decision
from kubevirt.apiserver.http import asked
from kubevirt.apiserver.registry.identity import Identity

NOW = datetime(2026, 5, 1, 12, 30, 1, 5, tzinfo=UTC)
ANN = Identity(user="ann", groups=("ops",))
BOB = Identity(user="bob")


def written(method: str, uri: str, body: bytes | None = None, **more: Any) -> dict[str, Any]:
    path, _, query = uri.partition("?")
    parameters = dict(each.partition("=")[::2] for each in query.split("&") if each)
    request = audit.Request(
        id="1",
        uri=uri,
        asked=asked.read(method, path, parameters),
        received_at=NOW,
        caller=more.pop("caller", Caller(ANN, ANN)),
        source="127.0.0.1",
        user_agent="kubectl/v1",
        body=body,
        **more,
    )
    line = audit.event(request, 200, NOW)
    assert b"\n" not in line
    found: dict[str, Any] = msgspec.json.decode(line)
    return found


def test_an_event_tells_who_did_what() -> None:
    decision = Decision(allowed=True, reason="RBAC: allowed by …")
    found = written("GET", "/api/v1/namespaces/lab/pods/one/log?follow=true", decision=decision)
    assert found == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "1",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/lab/pods/one/log?follow=true",
        "verb": "get",
        "user": {"username": "ann", "groups": ["ops"]},
        "sourceIPs": ["127.0.0.1"],
        "userAgent": "kubectl/v1",
        "objectRef": {
            "resource": "pods",
            "namespace": "lab",
            "name": "one",
            "apiVersion": "v1",
            "subresource": "log",
        },
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2026-05-01T12:30:01.000005Z",
        "stageTimestamp": "2026-05-01T12:30:01.000005Z",
        "annotations": {
            "authorization.k8s.io/decision": "allow",
            "authorization.k8s.io/reason": "RBAC: allowed by …",
        },
    }


def test_acting_as_another_is_told() -> None:
    found = written("GET", "/version", caller=Caller(ANN, BOB))
    assert found["user"]["username"] == "ann"
    assert found["impersonatedUser"] == {"username": "bob"}
    assert "objectRef" not in found


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/lab/secrets",
        "/api/v1/namespaces/lab/configmaps",
        "/api/v1/namespaces/lab/pods",
        "/api/v1/namespaces/lab/serviceaccounts/robot/token",
        "/apis/authentication.k8s.io/v1/tokenreviews",
        "/apis/kubevirt.io/v1/namespaces/lab/virtualmachines",
        "/apis/apiregistration.k8s.io/v1/apiservices",
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    ],
)
def test_a_body_that_may_hold_a_secret_is_not_written_down(path: str) -> None:
    body = b'{"data": {"password": "czNjcjN0"}, "spec": {"token": "czNjcjN0"}}'
    found = written("POST", path, body)
    assert found["level"] == "Metadata"
    assert "czNjcjN0" not in str(found)


def test_who_changed_a_role_to_what_is_written_down() -> None:
    body = b'{"rules": [{"verbs": ["*"]}]}'
    found = written("PUT", "/apis/rbac.authorization.k8s.io/v1/clusterroles/x", body)
    assert found["level"] == "Request"
    assert found["requestObject"] == {"rules": [{"verbs": ["*"]}]}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {}}
    body = wire_encoder.body({**role, "rules": [{"verbs": ["*"]}]}, "ClusterRole")
    found = written("PUT", "/apis/rbac.authorization.k8s.io/v1/clusterroles/x", body)
    assert found["requestObject"] == {**role, "rules": [{"verbs": ["*"]}]}
    assert "requestObject" not in written("PUT", "/api/v1/nodes/x", b"k8s\0\xff")
    assert "requestObject" not in written("PUT", "/api/v1/nodes/x", b"{" + b" " * (17 << 10))
    assert "requestObject" not in written("PUT", "/api/v1/nodes/x", b"[" * 5000)


def test_the_words_of_an_exec_are_not_written_down() -> None:
    found = written(
        "POST", "/api/v1/namespaces/lab/pods/one/exec?command=login&command=s3cr3t&stdin=true"
    )
    assert found["requestURI"].endswith("/exec?command=-&command=-&stdin=true")


def test_a_line_is_bounded() -> None:
    found = written("GET", f"/api/v1/namespaces/{'n' * 9000}/pods/{'p' * 9000}?watch={'w' * 9000}")
    assert len(msgspec.json.encode(found)) < 10_000


# The log


def lines(folder: Path) -> list[bytes]:
    """Oldest first."""
    files = sorted(
        folder.iterdir(),
        key=lambda each: -int(each.suffix[1:] or "0") if each.suffix != ".log" else 0,
    )
    return [line for file in files for line in file.read_bytes().splitlines()]


def test_lines_are_written_in_order_and_rotated(tmp_path: Path) -> None:
    settings = AuditLogSettings(path=tmp_path / "audit.log", max_bytes=1000, backups=3)
    with AuditLog(settings) as log:
        for number in range(100):
            log.write(b"%04d" % number + b"x" * 95)
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == ["audit.log", "audit.log.1", "audit.log.2", "audit.log.3"]
    numbers = [int(line[:4]) for line in lines(tmp_path)]
    assert numbers == list(range(100 - len(numbers), 100))
    assert all(each.stat().st_size <= 1000 for each in tmp_path.iterdir())
    assert all(each.stat().st_mode & 0o077 == 0 for each in tmp_path.iterdir())
    assert log.dropped == 0


def test_a_log_goes_on_where_it_ended(tmp_path: Path) -> None:
    settings = AuditLogSettings(path=tmp_path / "audit.log", max_bytes=10, backups=0)
    for line in (b"one", b"two", b"three"):
        with AuditLog(settings) as log:
            log.write(line)
    assert (tmp_path / "audit.log").read_bytes() == b"three\n"


def test_a_disk_that_stands_still_holds_nobody_up(tmp_path: Path) -> None:
    """A FIFO that nobody reads stands in for the disk."""
    path = tmp_path / "audit.log"
    os.mkfifo(path)
    settings = AuditLogSettings(path=path, queued=10, close_limit_s=30)
    with AuditLog(settings) as log:
        for _ in range(1000):
            log.write(b"line")  # or it would stand here for ever
        assert log.dropped >= 988
        read: list[bytes] = []
        reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
        reader.start()
        while log._queue.qsize() > 5:  # the disk is back
            time.sleep(0.001)
        log.write(b"last")
    reader.join(30)
    found = read[0].splitlines()
    assert found[-1] == b"last"
    # Told in two parts if the thread took its first line while the others were being lost.
    notes = [msgspec.json.decode(line)["annotations"] for line in found if line.startswith(b"{")]
    assert sum(int(note["audit.kubevirt.io/lost-events"]) for note in notes) == log.dropped


def test_a_disk_that_fails_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = AuditLogSettings(path=tmp_path / "missing" / "audit.log")
    with AuditLog(settings) as log:
        for _ in range(5):
            log.write(b"line")
    assert log.dropped == 5
    assert len(caplog.records) == 1
