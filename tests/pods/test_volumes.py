"""Volumes that hold files of their own: emptyDir, hostPath, claims, images; and how they are mounted."""

import pytest
from tests.pods.objects import WAIT, Object, a_config_map, a_container, a_pod, phase
from tests.pods.place import Place, unschedulable
from tests.pods.storage import Storage

from kubevirt.kube.errors import Invalid


def mounted(source: Object, **mount: object) -> Object:
    """A pod's volume of this source, at /v."""
    return {
        "volumes": [{"name": "v", **source}],
        "container": {"volumeMounts": [{"name": "v", "mountPath": "/v", **mount}]},
    }


async def test_containers_meet_in_an_empty_dir(place: Place) -> None:
    mounts = [{"name": "v", "mountPath": "/v"}]
    writer = a_container("writer", f"echo hello >/v/note; {WAIT}", volumeMounts=mounts)
    reader = a_container("reader", WAIT, volumeMounts=[{"name": "v", "mountPath": "/elsewhere"}])
    volumes = [{"name": "v", "emptyDir": {}}]
    await place.run(a_pod("pair", containers=[writer, reader], volumes=volumes))
    script = "until cat /elsewhere/note 2>/dev/null; do sleep 0.1; done"
    assert await place.sh("pair", script, "reader") == "hello\n"


async def test_everyone_may_write_to_an_empty_dir(place: Place) -> None:
    script = "stat -c %a /v; id -u; touch /v/mine && echo written"
    security: Object = {"securityContext": {"runAsUser": 1234}}
    said = await place.output(script, **security, **mounted({"emptyDir": {}}))
    assert said.split() == ["777", "1234", "written"]


async def test_an_empty_dir_of_memory_is_a_tmpfs_of_its_size(place: Place) -> None:
    source = {"emptyDir": {"medium": "Memory", "sizeLimit": "8Mi"}}
    script = "grep ' /v ' /proc/mounts; df -k /v | tail -n 1"
    said = await place.output(script, **mounted(source))
    assert said.startswith("tmpfs /v tmpfs")
    assert "8192" in said.splitlines()[1].split()


async def test_an_empty_dir_is_empty_for_each_pod(place: Place) -> None:
    for name in ("one", "two"):
        script = "ls /v | wc -l; touch /v/mine"
        assert (await place.output(script, name, **mounted({"emptyDir": {}}))).strip() == "0"


@pytest.mark.parametrize(
    ("kind", "look"), [("DirectoryOrCreate", "test -d /v"), ("FileOrCreate", "test -f /v")]
)
async def test_a_host_path_is_made_if_asked_for(
    place: Place, host_folder: str, kind: str, look: str
) -> None:
    path = f"{host_folder}/made" if kind == "DirectoryOrCreate" else host_folder
    source = {"hostPath": {"path": path, "type": kind}}
    assert await place.output(f"{look} && echo made", **mounted(source)) == "made\n"


async def test_a_host_path_is_the_nodes_own(place: Place, host_folder: str) -> None:
    source = {"hostPath": {"path": host_folder, "type": "DirectoryOrCreate"}}
    await place.output("echo left >/v/note", "writer", **mounted(source))
    assert await place.output("cat /v/note", "reader", **mounted(source)) == "left\n"
    checked = {"hostPath": {"path": host_folder, "type": "Directory"}}
    assert await place.output("cat /v/note", "strict", **mounted(checked)) == "left\n"


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        ("Directory", "is not a directory"),
        ("File", "is not a file"),
        ("Socket", "is not a socket file"),
        ("CharDevice", "is not a character device"),
        ("BlockDevice", "is not a block device"),
    ],
)
async def test_a_host_path_that_is_not_as_it_should_be_is_refused(
    place: Place, host_folder: str, kind: str, complaint: str
) -> None:
    await place.create(a_pod("picky", **mounted({"hostPath": {"path": host_folder, "type": kind}})))
    told = await place.until_event("picky", "FailedMount", complaint)
    assert f"hostPath type check failed: {host_folder}" in told["message"]


async def test_a_claim_keeps_what_one_pod_wrote_for_the_next(
    place: Place, storage: Storage
) -> None:
    await storage.claim("data")
    source = {"persistentVolumeClaim": {"claimName": "data"}}
    await place.output("echo precious >/v/note", "writer", **mounted(source))
    await place.delete("writer")
    await place.until_gone("writer")
    assert await place.output("cat /v/note", "reader", **mounted(source)) == "precious\n"


async def test_a_block_claim_is_a_device_that_keeps_its_bytes(
    place: Place, storage: Storage
) -> None:
    await storage.claim("disk", "Block")
    pod = {
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "disk"}}],
        "container": {"volumeDevices": [{"name": "v", "devicePath": "/dev/disk"}]},
    }
    write = "test -b /dev/disk && echo precious | dd of=/dev/disk bs=512 conv=sync,fsync"
    await place.output(write, "writer", **pod)
    await place.delete("writer")
    await place.until_gone("writer")
    assert await place.output("head -c 8 /dev/disk", "reader", **pod) == "precious"


async def test_a_pod_of_a_claim_that_is_not_there_stays_where_it_is(place: Place) -> None:
    source = {"persistentVolumeClaim": {"claimName": "nothing"}}
    await place.create(a_pod("waiting", **mounted(source)))
    pod = await place.until("waiting", lambda pod: bool(unschedulable(pod)), "unschedulable")
    assert 'persistentvolumeclaim "nothing" not found' in unschedulable(pod)
    assert phase(pod) == "Pending"


async def test_a_claim_in_use_is_not_removed(place: Place, storage: Storage) -> None:
    await storage.claim("data")
    source = {"persistentVolumeClaim": {"claimName": "data"}}
    await place.run(a_pod("user", **mounted(source)))
    await place.delete("data", kind="PersistentVolumeClaim")
    assert await place.is_there("data", "PersistentVolumeClaim")
    await place.sh("user", "touch /v/still-here")
    await place.delete("user")
    await place.until_gone("data", "PersistentVolumeClaim")


async def test_a_read_only_mount_cannot_be_written(
    place: Place, storage: Storage, host_folder: str
) -> None:
    await storage.claim("data")
    for name, source in (
        ("empty", {"emptyDir": {}}),
        ("claim", {"persistentVolumeClaim": {"claimName": "data"}}),
        ("host", {"hostPath": {"path": host_folder, "type": "DirectoryOrCreate"}}),
    ):
        script = "touch /v/new 2>&1 || echo refused"
        said = await place.output(script, name, **mounted(source, readOnly=True))
        assert "Read-only file system" in said
        assert "refused" in said


async def test_a_sub_path_is_a_folder_of_the_volume(place: Place) -> None:
    mounts = [
        {"name": "v", "mountPath": "/whole"},
        {"name": "v", "mountPath": "/part", "subPath": "one/two"},
    ]
    script = "echo deep >/part/note; cat /whole/one/two/note"
    said = await place.output(
        script, container={"volumeMounts": mounts}, volumes=[{"name": "v", "emptyDir": {}}]
    )
    assert said == "deep\n"


async def test_a_sub_path_may_be_one_file(place: Place) -> None:
    await place.create(a_config_map("settings", colour="blue", size="large"))
    mounts = [{"name": "v", "mountPath": "/etc/tint", "subPath": "colour"}]
    volumes = [{"name": "v", "configMap": {"name": "settings"}}]
    said = await place.output("cat /etc/tint", container={"volumeMounts": mounts}, volumes=volumes)
    assert said == "blue"


async def test_a_sub_path_may_come_from_the_environment(place: Place) -> None:
    name = {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    container = {
        "env": [name],
        "volumeMounts": [
            {"name": "v", "mountPath": "/whole"},
            {"name": "v", "mountPath": "/part", "subPathExpr": "of-$(NAME)"},
        ],
    }
    volumes = [{"name": "v", "emptyDir": {}}]
    said = await place.output("ls /whole", "named", container=container, volumes=volumes)
    assert said == "of-named\n"


async def test_a_sub_path_cannot_lead_out_of_its_volume(place: Place) -> None:
    with pytest.raises(Invalid, match=r"must not contain '\.\.'"):
        await place.create(a_pod("sly", **mounted({"emptyDir": {}}, subPath="../../etc")))
    # Nor by a link that somebody has laid in it.
    trap = a_container("trap", "ln -s / /v/way", volumeMounts=[{"name": "v", "mountPath": "/v"}])
    pod = a_pod("slyer", initContainers=[trap], **mounted({"emptyDir": {}}, subPath="way"))
    await place.create(pod)
    await place.until_waiting("slyer", "CreateContainerConfigError")


async def test_a_volume_may_be_mounted_inside_another(place: Place) -> None:
    await place.create(a_config_map("settings", colour="blue"))
    mounts = [
        {"name": "inner", "mountPath": "/v/deep/inner"},
        {"name": "outer", "mountPath": "/v"},
    ]
    volumes = [
        {"name": "outer", "emptyDir": {}},
        {"name": "inner", "configMap": {"name": "settings"}},
    ]
    script = "cat /v/deep/inner/colour; echo; touch /v/free && ls /v"
    said = await place.output(script, container={"volumeMounts": mounts}, volumes=volumes)
    assert said.split() == ["blue", "deep", "free"]


async def test_an_image_is_a_volume_that_cannot_be_written(place: Place) -> None:
    source = {"image": {"reference": place.home.disk_image, "pullPolicy": "IfNotPresent"}}
    script = "cat /v/disk/disk.img; touch /v/new 2>/dev/null || echo refused"
    assert await place.output(script, **mounted(source)) == "a disk\nrefused\n"
