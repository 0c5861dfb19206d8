"""postStart and preStop: what is run beside a container's own program."""

import time

from tests.pods.objects import POLITE, Object, a_pod, restarts, when_told
from tests.pods.place import Place

VOLUMES = [{"name": "shared", "emptyDir": {}}]
MOUNTS = [{"name": "shared", "mountPath": "/shared"}]


def hooks(**scripts: str) -> Object:
    return {
        "volumeMounts": MOUNTS,
        "lifecycle": {
            name: {"exec": {"command": ["/bin/sh", "-c", script]}}
            for name, script in scripts.items()
        },
    }


async def test_a_container_runs_when_its_post_start_hook_is_done(place: Place) -> None:
    container = hooks(postStart="sleep 1; echo done >/shared/hook")
    await place.create(a_pod("hooked", POLITE, container=container, volumes=VOLUMES))
    await place.until_running("hooked")
    assert await place.sh("hooked", "cat /shared/hook") == "done\n"


async def test_a_container_whose_post_start_hook_fails_is_started_again(place: Place) -> None:
    once = "if [ -e /shared/again ]; then exit 0; fi; touch /shared/again; exit 1"
    await place.create(a_pod("retry", POLITE, container=hooks(postStart=once), volumes=VOLUMES))
    await place.until("retry", lambda pod: restarts(pod) >= 1, "restarted")
    await place.until_event("retry", "FailedPostStartHook")
    await place.until_ready("retry")


async def test_the_pre_stop_hook_is_done_before_the_container_is_told_to_end(place: Place) -> None:
    script = f"echo up; {when_told('cat /shared/hook; echo told')}"
    pod = a_pod(
        "orderly",
        script,
        container=hooks(preStop="sleep 1; echo hook >/shared/hook"),
        volumes=VOLUMES,
        terminationGracePeriodSeconds=600,
    )
    await place.run(pod)
    await place.until_listening("orderly")
    said, _ = await place.last_words("orderly")
    assert said == "up\nhook\ntold\n"


async def test_a_pre_stop_hook_that_takes_too_long_is_cut_short(place: Place) -> None:
    container = hooks(preStop="sleep 600")
    pod = a_pod(
        "endless", POLITE, container=container, volumes=VOLUMES, terminationGracePeriodSeconds=2
    )
    await place.run(pod)
    await place.delete("endless")
    await place.until_gone("endless")


async def test_a_pre_stop_hook_is_done_for_a_container_that_is_not_alive(place: Place) -> None:
    dead = {"exec": {"command": ["/bin/sh", "-c", "test ! -e /shared/dead"]}}
    container = hooks(preStop="rm /shared/dead; echo hook >>/shared/hook")
    container["livenessProbe"] = {**dead, "periodSeconds": 1, "failureThreshold": 1}
    await place.run(a_pod("mortal", POLITE, container=container, volumes=VOLUMES))
    await place.sh("mortal", "touch /shared/dead")
    await place.until("mortal", lambda pod: restarts(pod) == 1, "restarted")
    await place.until_ready("mortal")
    assert await place.sh("mortal", "cat /shared/hook") == "hook\n"


async def test_a_pre_stop_hook_may_be_a_pause(place: Place) -> None:
    script = f"echo up; {when_told('echo told')}"
    pod = a_pod("slow", script, terminationGracePeriodSeconds=600)
    pod["spec"]["containers"][0]["lifecycle"] = {"preStop": {"sleep": {"seconds": 3}}}
    await place.run(pod)
    await place.until_listening("slow")
    began = time.monotonic()
    said, _ = await place.last_words("slow")
    assert said == "up\ntold\n"
    assert time.monotonic() - began > 2.5


async def test_a_pre_stop_hook_may_be_a_request(place: Place) -> None:
    container: Object = {
        "ports": [{"name": "web", "containerPort": 8080}],
        "readinessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 1},
        "lifecycle": {"preStop": {"httpGet": {"path": "/goodbye", "port": "web"}}},
    }
    script = "trap 'exit 0' TERM; echo up; busybox httpd -f -vv -p 8080 -h /tmp & wait"
    await place.run(a_pod("web", script, container=container, terminationGracePeriodSeconds=600))
    said, _ = await place.last_words("web")
    assert "/goodbye" in said


async def test_a_post_start_request_that_nobody_answers_has_failed(place: Place) -> None:
    container = {"lifecycle": {"postStart": {"httpGet": {"path": "/", "port": 9999}}}}
    await place.create(a_pod("deaf", POLITE, container=container))
    await place.until_event("deaf", "FailedPostStartHook")
    await place.until("deaf", lambda pod: restarts(pod) >= 1, "restarted")
