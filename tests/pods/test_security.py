"""Who a container runs as, and what it may do."""

from tests.pods.objects import Object, a_pod, phase, state_of
from tests.pods.place import Place

DEFAULT_CAPABILITIES = 0xA80425FB
"""What the common runtimes give to root."""


def with_rights(**rights: object) -> Object:
    return {"container": {"securityContext": rights}}


async def proc_status(place: Place, name: str, **spec: object) -> dict[str, str]:
    """What the kernel says of a container's first process."""
    said = await place.output("cat /proc/self/status", name, **spec)
    lines = (line.partition(":") for line in said.splitlines())
    return {name: value.strip() for name, _, value in lines}


async def test_a_pod_chooses_user_and_groups(place: Place) -> None:
    context = {"runAsUser": 1001, "runAsGroup": 2002, "supplementalGroups": [3003, 3004]}
    said = await place.output("id -u; id -g; id -G", securityContext=context)
    user, group, *groups = said.split()
    assert (user, group) == ("1001", "2002")
    assert sorted(groups) == ["2002", "3003", "3004"]


async def test_a_container_knows_better_than_its_pod(place: Place) -> None:
    said = await place.output(
        "id -u; id -g",
        securityContext={"runAsUser": 1001, "runAsGroup": 2002},
        **with_rights(runAsUser=1111),
    )
    assert said.split() == ["1111", "2002"]


async def test_volumes_belong_to_the_fs_group(place: Place) -> None:
    context = {"runAsUser": 1001, "fsGroup": 5005}
    said = await place.output(
        "stat -c %g /v; touch /v/new; stat -c %g /v/new; id -G",
        securityContext=context,
        volumes=[{"name": "v", "emptyDir": {}}],
        container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
    )
    owner, created, *groups = said.split()
    assert (owner, created) == ("5005", "5005")
    assert "5005" in groups


async def test_root_is_refused_where_the_pod_says_so(place: Place) -> None:
    await place.create(a_pod("rooted", securityContext={"runAsNonRoot": True}))
    pod = await place.until_waiting("rooted", "CreateContainerConfigError")
    assert "runAsNonRoot" in state_of(pod)["waiting"]["message"]
    await place.create(a_pod("zero", securityContext={"runAsNonRoot": True, "runAsUser": 0}))
    pod = await place.until_waiting("zero", "CreateContainerConfigError")
    assert "runAsUser" in state_of(pod)["waiting"]["message"]
    context = {"runAsNonRoot": True, "runAsUser": 1001}
    assert await place.output("id -u", "plain", securityContext=context) == "1001\n"


async def test_root_in_a_container_has_the_usual_capabilities(place: Place) -> None:
    found = await proc_status(place, "usual")
    assert int(found["CapEff"], 16) == DEFAULT_CAPABILITIES
    assert int(found["CapBnd"], 16) == DEFAULT_CAPABILITIES


async def test_capabilities_are_dropped_and_added(place: Place) -> None:
    none = await proc_status(place, "none", **with_rights(capabilities={"drop": ["ALL"]}))
    assert int(none["CapEff"], 16) == int(none["CapBnd"], 16) == 0
    wanted = {"drop": ["ALL"], "add": ["NET_ADMIN"]}
    one = await proc_status(place, "one", **with_rights(capabilities=wanted))
    assert int(one["CapEff"], 16) == 1 << 12
    other = await proc_status(place, "other", **with_rights(capabilities={"drop": ["CHOWN"]}))
    assert int(other["CapEff"], 16) == DEFAULT_CAPABILITIES & ~1


async def test_a_user_other_than_root_has_no_capabilities(place: Place) -> None:
    found = await proc_status(place, "plain", **with_rights(runAsUser=1001))
    assert int(found["CapEff"], 16) == 0


async def test_the_root_file_system_may_be_read_only(place: Place) -> None:
    spec = with_rights(readOnlyRootFilesystem=True)
    spec["container"]["volumeMounts"] = [{"name": "v", "mountPath": "/v"}]
    script = "touch /new 2>/dev/null || echo refused; touch /v/new && echo allowed"
    said = await place.output(script, volumes=[{"name": "v", "emptyDir": {}}], **spec)
    assert said == "refused\nallowed\n"


async def test_the_root_file_system_can_be_written_otherwise(place: Place) -> None:
    script = "touch /new /tmp/new && mkdir /var/mine && echo written"
    assert await place.output(f"mkdir -p /var; {script}") == "written\n"


async def test_no_new_privileges_where_escalation_is_not_allowed(place: Place) -> None:
    found = await proc_status(place, "tame", **with_rights(allowPrivilegeEscalation=False))
    assert found["NoNewPrivs"] == "1"


async def test_the_default_profile_filters_system_calls(place: Place) -> None:
    profile = {"type": "RuntimeDefault"}
    found = await proc_status(place, "filtered", **with_rights(seccompProfile=profile))
    assert found["Seccomp"] == "2"


async def test_the_kernels_settings_cannot_be_changed(place: Place) -> None:
    script = "(echo 1 >/proc/sys/kernel/printk_ratelimit) 2>/dev/null || echo refused"
    assert await place.output(script) == "refused\n"


async def test_a_user_other_than_root_may_serve_on_low_ports(place: Place) -> None:
    pod = a_pod(
        "web",
        "exec busybox httpd -f -p 80 -h /proc",
        securityContext={"runAsUser": 1001},
        container={"readinessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 1}},
    )
    assert phase(await place.run(pod)) == "Running"
