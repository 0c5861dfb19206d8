"""Pods from their creation to their end, as a user sees it."""

import asyncio
import os
from typing import Any

import pytest
from tests.component.embedded.node.world import (
    NODE,
    NoVolumes,
    World,
    a_pod,
    container,
    ended,
    has_phase,
    has_restarted,
    is_ready,
    status_of,
    waits_for,
)

from kubevirt.api.scheme import CONFIG_MAPS, LEASES, NODES, PODS
from kubevirt.kube.patches import MergePatch, StrategicMergePatch

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root")


async def test_a_node_shows_what_it_is_and_that_it_lives(world: World) -> None:
    async with world.node(endpoint_port=10250):
        node = await world.client.get(NODES, NODE)
        lease = await world.client.get(LEASES, NODE, "kube-node-lease")

    conditions = {each.type: each.status for each in node.status.conditions}
    assert conditions["Ready"] == "True"
    assert conditions["MemoryPressure"] == "False"
    assert node.metadata.labels["kubernetes.io/hostname"] == NODE
    assert node.status.capacity["pods"] == "110"
    assert int(node.status.allocatable["cpu"]) == len(os.sched_getaffinity(0))
    assert node.status.daemon_endpoints is not None
    assert node.status.daemon_endpoints.kubelet_endpoint is not None
    assert node.status.daemon_endpoints.kubelet_endpoint.port == 10250
    assert node.status.node_info is not None
    assert node.status.node_info.kubelet_version.startswith("v1.34")
    assert lease.spec.holder_identity == NODE
    assert lease.metadata.owner_references[0].uid == node.metadata.uid


async def test_a_node_whose_object_is_removed_comes_back(world: World) -> None:
    async with world.node():
        before = await world.client.get(NODES, NODE)
        await world.client.delete(NODES, NODE)

        async for event in world.client.watch(
            NODES, resource_version=None, field_selector=f"metadata.name={NODE}"
        ):
            node = event.object
            if isinstance(node, type(before)) and node.metadata.uid != before.metadata.uid:
                break

        await world.create(a_pod("web"))
        await world.until("web", is_ready)


async def test_a_pod_that_does_its_work_has_succeeded(world: World) -> None:
    async with world.node():
        await world.create(a_pod("worker", "echo done", restartPolicy="Never"))

        pod = await world.until("worker", has_phase("Succeeded"))

    assert (ended(pod).exit_code, ended(pod).reason) == (0, "Completed")
    assert status_of(pod).restart_count == 0
    assert world.log(pod) == ["done"]


async def test_a_pod_that_fails_tells_its_code_and_its_last_words(world: World) -> None:
    script = "echo it broke > /dev/termination-log; exit 7"
    async with world.node():
        await world.create(a_pod("worker", script, restartPolicy="Never"))

        pod = await world.until("worker", has_phase("Failed"))

    assert (ended(pod).exit_code, ended(pod).reason) == (7, "Error")
    assert ended(pod).message == "it broke\n"


async def test_the_end_of_a_log_stands_for_a_message(world: World) -> None:
    policy = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    async with world.node():
        await world.create(
            a_pod("worker", "echo one; echo two; exit 1", restartPolicy="Never", main=policy)
        )

        pod = await world.until("worker", has_phase("Failed"))

    assert ended(pod).message == "one\ntwo\n"


async def test_a_command_that_is_not_there_is_a_start_error(world: World) -> None:
    async with world.node():
        await world.create(
            a_pod("worker", restartPolicy="Never", main={"command": ["/no/such/program"]})
        )

        pod = await world.until("worker", has_phase("Failed"))

    assert (ended(pod).exit_code, ended(pod).reason) == (128, "StartError")
    assert "/no/such/program" in (ended(pod).message or "")


async def test_a_pod_that_ends_is_started_again_at_once_and_then_waits(world: World) -> None:
    async with world.node():
        await world.create(a_pod("worker", "exit 3"))

        pod = await world.until("worker", waits_for("CrashLoopBackOff"))

        last = status_of(pod).last_state
        assert last is not None
        assert last.terminated is not None
        assert last.terminated.exit_code == 3
        assert status_of(pod).restart_count == 1
        assert pod.status.phase == "Running"
        await world.delete("worker")
        await world.until_gone("worker")


async def test_a_pod_is_started_again_only_if_it_failed(world: World) -> None:
    script = "test -e /tmp/never || exit 1"
    async with world.node():
        await world.create(a_pod("good", "exit 0", restartPolicy="OnFailure"))
        await world.create(a_pod("bad", script, restartPolicy="OnFailure"))

        await world.until("good", has_phase("Succeeded"))
        pod = await world.until("bad", waits_for("CrashLoopBackOff"))

    assert status_of(pod).restart_count == 1


async def test_init_containers_run_one_after_the_other_before_all_others(world: World) -> None:
    inits = [container("first", "sleep 0.2"), container("second", "true")]
    async with world.node():
        await world.create(a_pod("web", initContainers=inits))

        pod = await world.until("web", is_ready)

    first, second = ended(pod, "first"), ended(pod, "second")
    running = status_of(pod).state
    assert running is not None
    assert running.running is not None
    assert first.finished_at is not None
    assert second.started_at is not None
    assert second.finished_at is not None
    assert running.running.started_at is not None
    assert first.finished_at <= second.started_at
    assert second.finished_at <= running.running.started_at
    assert status_of(pod, "first").ready


async def test_a_pod_whose_init_container_fails_never_begins(world: World) -> None:
    inits = [container("first", "exit 4")]
    async with world.node():
        await world.create(a_pod("web", initContainers=inits, restartPolicy="Never"))

        pod = await world.until("web", has_phase("Failed"))

    assert ended(pod, "first").exit_code == 4
    assert world.records(pod).attempts("main") == []


async def test_a_sidecar_begins_before_and_ends_after_and_holds_up_no_end(world: World) -> None:
    sidecar = container(
        "beside", "trap 'exit 0' TERM; while :; do sleep 0.05; done", restartPolicy="Always"
    )
    async with world.node():
        await world.create(
            a_pod("worker", "sleep 0.3", initContainers=[sidecar], restartPolicy="Never")
        )

        pod = await world.until("worker", has_phase("Succeeded"))

    main, beside = ended(pod), ended(pod, "beside")
    assert main.started_at is not None
    assert beside.started_at is not None
    assert beside.started_at <= main.started_at
    assert (main.exit_code, beside.exit_code) == (0, 0)


async def test_a_sidecar_comes_back_whatever_the_policy(world: World) -> None:
    sidecar = container("beside", "exit 1", restartPolicy="Always")
    async with world.node():
        await world.create(a_pod("web", initContainers=[sidecar], restartPolicy="Never"))

        pod = await world.until(
            "web",
            lambda pod: (
                bool(pod.status.init_container_statuses)
                and status_of(pod, "beside").restart_count == 1
            ),
        )

        assert status_of(pod).restart_count == 0


async def test_an_image_that_cannot_be_had_is_told_and_waited_for(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web", main={"image": "missing"}))

        await world.until("web", waits_for("ErrImagePull"))
        pod = await world.until("web", waits_for("ImagePullBackOff"))

        assert pod.status.phase == "Pending"
        await world.delete("web")
        await world.until_gone("web")


async def test_a_variable_that_cannot_be_had_is_told_and_waited_for(world: World) -> None:
    env = [{"name": "COLOUR", "valueFrom": {"configMapKeyRef": {"name": "paint", "key": "c"}}}]
    async with world.node():
        await world.create(a_pod("web", main={"env": env}))

        pod = await world.until("web", waits_for("CreateContainerConfigError"))

        state = status_of(pod).state
        assert state is not None
        assert state.waiting is not None
        assert state.waiting.message == 'configmap "paint" not found'
        await world.delete("web")
        await world.until_gone("web")


async def test_a_container_knows_its_variables_its_name_and_its_place(world: World) -> None:
    await world.client.create(
        CONFIG_MAPS, {"metadata": {"name": "paint"}, "data": {"c": "red"}}, "default"
    )
    env = [
        {"name": "COLOUR", "valueFrom": {"configMapKeyRef": {"name": "paint", "key": "c"}}},
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "BOTH", "value": "$(POD) is $(COLOUR)"},
    ]
    main = {
        "command": [
            "sh",
            "-c",
            'echo "$BOTH $0 $KUBERNETES_SERVICE_PORT"; hostname; pwd; cat /etc/hosts',
        ],
        "args": ["$(COLOUR)"],
        "env": env,
        "workingDir": "/usr",
    }
    aliases = [{"ip": "192.0.2.9", "hostnames": ["far", "away"]}]
    async with world.node():
        await world.create(
            a_pod("web", main=main, restartPolicy="Never", hostname="wilma", hostAliases=aliases)
        )

        pod = await world.until("web", has_phase("Succeeded"))

    said = world.log(pod)
    assert said[:3] == ["web is red red 443", "wilma", "/usr"]
    assert "127.0.0.1\twilma" in said
    assert "192.0.2.9\tfar\taway" in said


async def test_a_container_runs_as_whom_its_pod_says(world: World) -> None:
    context = {"runAsUser": 1234, "runAsGroup": 99, "fsGroup": 77, "supplementalGroups": [55]}
    script = "id -u; id -G; grep NoNew /proc/self/status; touch /x"
    own = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True}
    async with world.node():
        await world.create(
            a_pod(
                "web",
                script,
                securityContext=context,
                restartPolicy="Never",
                main={"securityContext": own},
            )
        )

        pod = await world.until("web", has_phase("Failed"))

    said = world.log(pod)
    assert said[:3] == ["1234", "99 55 77", "NoNewPrivs:\t1"]
    assert "Read-only file system" in said[3]


async def test_a_pod_that_must_not_be_root_and_would_be_is_told_so(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web", securityContext={"runAsNonRoot": True}))

        pod = await world.until("web", waits_for("CreateContainerConfigError"))

        state = status_of(pod).state
        assert state is not None
        assert state.waiting is not None
        assert (state.waiting.message or "").startswith(
            "container has runAsNonRoot and image will run as root"
        )
        await world.delete("web")
        await world.until_gone("web")


@pytest.mark.parametrize(
    ("more", "reason", "words"),
    [
        ({"hostPID": True}, "PodFeatureUnsupported", "hostPID"),
        ({"hostIPC": True}, "PodFeatureUnsupported", "hostIPC"),
        (
            {"main": {"securityContext": {"privileged": True}}},
            "PodFeatureUnsupported",
            "privileged",
        ),
        (
            {"main": {"env": [{"name": "DEVICE", "value": "1"}]}},
            "UnexpectedAdmissionError",
            "Allocate failed due to no device",
        ),
        ({"nodeSelector": {"size": "huge"}}, "NodeAffinity", "node affinity/selector"),
        (
            {"main": {"resources": {"requests": {"cpu": "9999"}}}},
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 9999000, used: 0, capacity: ",
        ),
    ],
    ids=["hostPID", "hostIPC", "privileged", "no device", "elsewhere", "too large"],
)
async def test_a_pod_that_cannot_run_here_is_refused_with_the_reason(
    world: World, more: dict[str, Any], reason: str, words: str
) -> None:
    async with world.node():
        await world.create(a_pod("web", **more))

        pod = await world.until("web", has_phase("Failed"))

        assert pod.status.reason == reason
        assert (pod.status.message or "").startswith("Pod was rejected: ")
        assert words in (pod.status.message or "")
        assert world.records(pod).all_attempts() == []
        await world.delete("web")
        await world.until_gone("web")
        assert reason in dict(await world.events("web"))


async def test_a_readiness_gate_is_opened_by_somebody_else(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web", readinessGates=[{"conditionType": "example.com/ok"}]))
        pod = await world.until(
            "web",
            lambda pod: any(
                each.type == "ContainersReady" and each.status == "True"
                for each in pod.status.conditions
            ),
        )
        assert not is_ready(pod)

        opened = {"conditions": [{"type": "example.com/ok", "status": "True"}]}
        await world.client.patch_status(
            PODS, "web", StrategicMergePatch({"status": opened}), "default"
        )

        pod = await world.until("web", is_ready)
        assert "example.com/ok" in {each.type for each in pod.status.conditions}


async def test_a_pod_that_takes_too_long_is_ended(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web", activeDeadlineSeconds=1))

        pod = await world.until("web", has_phase("Failed"))

    assert pod.status.reason == "DeadlineExceeded"
    assert ended(pod).exit_code == 137  # a shell as the first process hears no SIGTERM


async def test_what_happens_is_told_in_events(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web"))
        await world.until("web", is_ready)
        await world.delete("web")
        await world.until_gone("web")
        found = [reason for reason, _ in await world.events("web")]

    assert {"Pulled", "Created", "Started", "Killing"} <= set(found)


async def test_a_label_that_changes_leaves_the_pod_alone(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web"))
        before = await world.until("web", is_ready)

        patch = MergePatch({"metadata": {"labels": {"colour": "red"}}})
        await world.client.patch(PODS, "web", patch, "default")

        after = await world.until("web", lambda pod: "colour" in pod.metadata.labels)
        assert after.status == before.status


async def test_a_container_that_is_killed_comes_back(world: World) -> None:
    async with world.node():
        await world.create(a_pod("web"))
        pod = await world.until("web", is_ready)

        world.kill_all()

        pod = await world.until("web", has_restarted(1))
        last = status_of(pod).last_state
        assert last is not None
        assert last.terminated is not None
        assert last.terminated.exit_code == 137


async def test_a_pod_whose_volume_is_overfull_is_evicted(world: World) -> None:
    why = 'Usage of EmptyDir volume "cache" exceeds the limit "1Mi". '
    async with world.node() as node:
        created = await world.create(a_pod("web"))
        await world.until("web", is_ready)
        volumes = node.pods._parts.neighbours.volumes
        assert isinstance(volumes, NoVolumes)

        volumes.full[created.metadata.uid] = why
        node.pods.wake(created.metadata.uid)

        pod = await world.until("web", has_phase("Failed"))
        assert (pod.status.reason, pod.status.message) == ("Evicted", why)
        assert ended(pod).exit_code == 137
        target = [each for each in pod.status.conditions if each.type == "DisruptionTarget"]
        assert [each.reason for each in target] == ["TerminationByKubelet"]


async def test_a_node_that_cannot_write_down_a_pod_says_so_and_takes_it_later(
    world: World,
) -> None:
    folder = world.folder / NODE / "pods"
    async with world.node():
        folder.rmdir()
        folder.write_text("no folder")
        await world.create(a_pod("web"))
        async with asyncio.timeout(60):
            while "FailedSync" not in (found := dict(await world.events("web"))):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        assert "Not a directory" in found["FailedSync"]

        folder.unlink()
        folder.mkdir()

        await world.until("web", is_ready)
