"""Probes: whether a container has started, is ready, is alive."""

from typing import Any

import pytest
from tests.pods.objects import (
    POLITE,
    WAIT,
    Object,
    a_pod,
    condition,
    ended_before,
    is_true,
    restarts,
    status_of,
    when_told,
)
from tests.pods.place import Place

SHARED: Object = {"volumes": [{"name": "shared", "emptyDir": {}}]}
MOUNTS = [{"name": "shared", "mountPath": "/shared"}]


def shell(script: str, **more: Any) -> Object:
    """A probe that runs a script every second."""
    return {"exec": {"command": ["/bin/sh", "-c", script]}, "periodSeconds": 1, **more}


async def test_a_container_is_ready_for_as_long_as_its_probe_says_so(place: Place) -> None:
    probe = shell("test -e /tmp/ready", failureThreshold=1)
    await place.create(a_pod("moody", container={"readinessProbe": probe}))
    pod = await place.until_running("moody")
    assert not is_true(pod, "Ready")
    assert condition(pod, "Ready")["reason"] == "ContainersNotReady"
    assert "[main]" in condition(pod, "Ready")["message"]
    assert status_of(pod)["started"] is True
    await place.until_event("moody", "Unhealthy", "Readiness probe failed")
    await place.sh("moody", "touch /tmp/ready")
    pod = await place.until_ready("moody")
    assert status_of(pod)["ready"] is True
    await place.sh("moody", "rm /tmp/ready")
    pod = await place.until("moody", lambda pod: not is_true(pod, "Ready"), "not ready")
    assert status_of(pod)["ready"] is False
    assert restarts(pod) == 0


async def test_a_readiness_probe_asks_by_http_on_a_named_port(place: Place) -> None:
    script = "mkdir -p /tmp/www; exec busybox httpd -f -p 8080 -h /tmp/www"
    container = {
        "ports": [{"name": "web", "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "web"}, "periodSeconds": 1},
    }
    await place.create(a_pod("web", script, container=container))
    await place.until_event("web", "Unhealthy", "HTTP probe failed with statuscode: 404")
    assert not is_true(await place.pod("web"), "Ready")
    await place.sh("web", "echo yes >/tmp/www/ready")
    await place.until_ready("web")


async def test_a_readiness_probe_follows_redirects_on_the_same_host(place: Place) -> None:
    """Whoever asks for a folder is led to the same with a slash, where nothing is yet."""
    script = "mkdir -p /tmp/www/ready; exec busybox httpd -f -p 8080 -h /tmp/www"
    probe = {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 1}
    await place.create(a_pod("led", script, container={"readinessProbe": probe}))
    await place.until_event("led", "Unhealthy", "HTTP probe failed with statuscode: 404")
    assert not is_true(await place.pod("led"), "Ready")
    await place.sh("led", "echo yes >/tmp/www/ready/index.html")
    await place.until_ready("led")


async def test_a_redirect_to_another_host_is_not_followed_and_warned_of(place: Place) -> None:
    probe = {"httpGet": {"path": "/cgi-bin/on", "port": 8080}, "periodSeconds": 1}
    script = redirecting("http://elsewhere.invalid/")
    await place.run(a_pod("guide", script, container={"readinessProbe": probe}))
    words = "Readiness probe warning: Probe terminated redirects, Response body: over there"
    told = await place.until_event("guide", "ProbeWarning", words)
    assert told["type"] == "Warning"


async def test_a_redirect_without_end_is_a_failure(place: Place) -> None:
    probe = {"httpGet": {"path": "/cgi-bin/on", "port": 8080}, "periodSeconds": 1}
    script = redirecting("/cgi-bin/on")
    await place.create(a_pod("round", script, container={"readinessProbe": probe}))
    words = 'Readiness probe failed: Get "/cgi-bin/on": stopped after 10 redirects'
    await place.until_event("round", "Unhealthy", words)
    assert not is_true(await place.pod("round"), "Ready")


def redirecting(location: str) -> str:
    """A web server that leads on whoever asks it for /cgi-bin/on."""
    answer = f"Status: 302 Found\\r\\nLocation: {location}\\r\\n\\r\\nover there"
    return (
        "mkdir -p /tmp/www/cgi-bin; cd /tmp/www/cgi-bin;"
        f" printf '%s\\n' '#!/bin/sh' \"printf '{answer}'\" >on; chmod +x on;"
        " exec busybox httpd -f -p 8080 -h /tmp/www"
    )


async def test_a_readiness_probe_asks_by_tcp(place: Place) -> None:
    script = f"until [ -e /tmp/open ]; do sleep 0.1; done; busybox httpd -p 7000 -h /tmp; {WAIT}"
    probe = {"tcpSocket": {"port": 7000}, "periodSeconds": 1}
    await place.create(a_pod("door", script, container={"readinessProbe": probe}))
    told = await place.until_event("door", "Unhealthy", "Readiness probe failed")
    assert "7000" in told["message"]
    await place.sh("door", "touch /tmp/open")
    await place.until_ready("door")


async def test_readiness_needs_as_many_successes_as_it_says(place: Place) -> None:
    probe = shell("echo asked >>/shared/asked", successThreshold=3)
    container = {"readinessProbe": probe, "volumeMounts": MOUNTS}
    await place.run(a_pod("doubted", container=container, **SHARED))
    assert int(await place.sh("doubted", "wc -l </shared/asked")) >= 3


async def test_a_container_that_is_not_alive_is_started_again(place: Place) -> None:
    container = {
        "livenessProbe": shell("test ! -e /tmp/dead", failureThreshold=1),
    }
    await place.run(a_pod("mortal", POLITE, container=container, terminationGracePeriodSeconds=60))
    await place.until_listening("mortal")
    await place.sh("mortal", "touch /tmp/dead")
    pod = await place.until("mortal", lambda pod: restarts(pod) == 1, "restarted")
    assert ended_before(pod)["exitCode"] == 0
    await place.until_event("mortal", "Unhealthy", "Liveness probe failed")
    await place.until_event("mortal", "Killing", "Container main failed liveness probe")
    await place.until_ready("mortal")


async def test_a_container_is_given_up_after_as_many_failures_as_it_says(place: Place) -> None:
    container = {
        "volumeMounts": MOUNTS,
        "livenessProbe": shell(
            "test -e /shared/count && exit; echo asked >>/tmp/asked; false", failureThreshold=3
        ),
    }
    script = when_told("wc -l </tmp/asked >/shared/count")
    pod = a_pod("counted", script, container=container, terminationGracePeriodSeconds=60, **SHARED)
    await place.create(pod)
    await place.until("counted", lambda pod: restarts(pod) == 1, "restarted")
    await place.until_running("counted")
    assert await place.sh("counted", "cat /shared/count") == "3\n"


async def test_nothing_is_asked_before_the_startup_probe_has_succeeded(place: Place) -> None:
    container = {
        "startupProbe": shell("test -e /tmp/started", failureThreshold=1000),
        "livenessProbe": shell("test -e /tmp/started", failureThreshold=1),
        "readinessProbe": shell("echo asked >>/tmp/asked"),
    }
    await place.create(a_pod("slow", POLITE, container=container))
    pod = await place.until_running("slow")
    assert status_of(pod)["started"] is False
    assert not is_true(pod, "Ready")
    await place.until_event("slow", "Unhealthy", "Startup probe failed")
    assert await place.sh("slow", "cat /tmp/asked || echo never") == "never\n"
    await place.sh("slow", "touch /tmp/started")
    pod = await place.until_ready("slow")
    assert status_of(pod)["started"] is True
    assert restarts(pod) == 0


async def test_a_container_that_does_not_start_in_time_is_started_again(place: Place) -> None:
    container = {"startupProbe": shell("false", failureThreshold=2)}
    await place.create(a_pod("stuck", POLITE, container=container))
    await place.until("stuck", lambda pod: restarts(pod) >= 1, "restarted")
    await place.until_event("stuck", "Killing", "Container main failed startup probe")


async def test_a_probe_that_takes_too_long_has_failed(place: Place) -> None:
    container = {"readinessProbe": shell("sleep 30", timeoutSeconds=1)}
    await place.create(a_pod("dreamy", POLITE, container=container))
    told = await place.until_event("dreamy", "Unhealthy", "Readiness probe")
    assert "timed out" in told["message"]
    assert not is_true(await place.pod("dreamy"), "Ready")


async def test_a_probe_may_have_a_grace_period_of_its_own(place: Place) -> None:
    probe = shell("test ! -e /tmp/dead", failureThreshold=1, terminationGracePeriodSeconds=1)
    pod = a_pod("deaf", container={"livenessProbe": probe}, terminationGracePeriodSeconds=600)
    await place.run(pod)
    await place.sh("deaf", "touch /tmp/dead")
    pod = await place.until("deaf", lambda pod: restarts(pod) == 1, "restarted")
    assert ended_before(pod)["exitCode"] == 137
    await place.delete("deaf", grace_s=1)


@pytest.mark.parametrize("gate", ["example.org/lamp-lit"])
async def test_a_pod_waits_for_its_readiness_gates(place: Place, gate: str) -> None:
    await place.create(a_pod("gated", readinessGates=[{"conditionType": gate}]))
    pod = await place.until("gated", lambda pod: is_true(pod, "ContainersReady"), "half ready")
    assert not is_true(pod, "Ready")
    assert condition(pod, "Ready")["reason"] == "ReadinessGatesNotReady"
    assert gate in condition(pod, "Ready")["message"]
    lit = f'{{"status":{{"conditions":[{{"type":"{gate}","status":"True"}}]}}}}'
    await place.kubectl("patch", "pod", "gated", "--subresource=status", "-p", lit)
    pod = await place.until_ready("gated")
    assert is_true(pod, gate)
