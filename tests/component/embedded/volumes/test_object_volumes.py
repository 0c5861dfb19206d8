"""Volumes made of objects: as files, and fresh for as long as the pod lives."""

import json
import stat
from base64 import urlsafe_b64decode
from datetime import timedelta
from typing import Any

import pytest
from tests.component.embedded.volumes.conftest import World, mounted, refusal, seen, source, until

from kubevirt.api.scheme import CONFIG_MAPS, PODS, SECRETS
from kubevirt.embedded.node.volumes import token
from kubevirt.embedded.node.volumes.volumes import Volumes
from kubevirt.host import mounts


def claims_of(text: str) -> dict[str, Any]:
    part = text.split(".")[1]
    found: dict[str, Any] = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


async def test_objects_are_files_that_no_container_can_change(
    world: World, volumes: Volumes
) -> None:
    await world.config_map("settings", color="blue")
    await world.secret("keys", key="s3cret")
    labels = {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}
    cpu = {"path": "cpu", "resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}}
    pod = await world.pod(
        "web",
        {"name": "a", "configMap": {"name": "settings"}},
        {"name": "b", "secret": {"secretName": "keys", "defaultMode": 0o400}},
        {"name": "c", "downwardAPI": {"items": [labels, cpu]}},
        metadata={"labels": {"app": "web"}},
    )

    await volumes.prepare(pod)

    assert seen(volumes, pod, "/a/color") == "blue"
    assert seen(volumes, pod, "/b/key") == "s3cret"
    assert seen(volumes, pod, "/c/labels") == 'app="web"'
    assert seen(volumes, pod, "/c/cpu") == "4"
    found = mounted(volumes, pod)
    assert all(each.is_read_only for each in found.values())
    folder = world.folder(pod) / "volumes"
    assert found["/a"].source == str(folder / "kubernetes.io~configmap" / "a")
    key = (source(volumes, pod, "/b") / "key").stat()
    assert stat.S_IMODE(key.st_mode) == 0o400
    # What is secret is in memory.
    assert set(mounts.below(folder)) == {
        folder / "kubernetes.io~secret" / "b",
        folder / "kubernetes.io~downward-api" / "c",
    }


async def test_a_pod_waits_for_an_object_and_is_told_when_it_comes(
    world: World, volumes: Volumes
) -> None:
    pod = await world.pod("web", {"name": "a", "configMap": {"name": "settings"}})

    said = await refusal(volumes, pod)
    assert said == 'MountVolume.SetUp failed for volume "a" : configmap "settings" not found'

    await world.config_map("settings", color="blue")
    await until(lambda: pod.metadata.uid in world.news, "the pod is looked at again")
    await volumes.prepare(pod)
    assert seen(volumes, pod, "/a/color") == "blue"


async def test_what_is_optional_may_be_missing_and_comes_later(
    world: World, volumes: Volumes
) -> None:
    pod = await world.pod("web", {"name": "a", "secret": {"secretName": "keys", "optional": True}})
    await volumes.prepare(pod)
    folder = source(volumes, pod, "/a")
    assert not (folder / "key").exists()

    await world.secret("keys", key="now")

    await until((folder / "key").exists, "the key is there")
    assert seen(volumes, pod, "/a/key") == "now"


async def test_a_change_of_an_object_is_in_all_its_volumes_at_once(
    world: World, volumes: Volumes
) -> None:
    await world.config_map("settings", color="blue")
    pods = [
        await world.pod(name, {"name": "a", "configMap": {"name": "settings"}})
        for name in ("one", "two")
    ]
    for pod in pods:
        await volumes.prepare(pod)
    assert volumes._following.count == 1

    await world.change(CONFIG_MAPS, "settings", {"data": {"color": "red", "size": "9"}})

    for pod in pods:
        file = source(volumes, pod, "/a") / "size"
        await until(file.exists, "the new file is there")
        assert seen(volumes, pod, "/a/color") == "red"
    for pod in pods:
        await volumes.tear_down(pod.metadata.uid)
    assert volumes._following.count == 0


async def test_an_object_that_goes_leaves_its_files(world: World, volumes: Volumes) -> None:
    await world.secret("keys", key="s3cret")
    await world.config_map("settings", color="blue")
    pod = await world.pod(
        "web",
        {"name": "a", "secret": {"secretName": "keys"}},
        {"name": "b", "configMap": {"name": "settings"}},
    )
    await volumes.prepare(pod)

    await world.admin.delete(SECRETS, "keys", "default")
    await world.change(CONFIG_MAPS, "settings", {"data": {"color": "red"}})

    await until(lambda: seen(volumes, pod, "/b/color") == "red", "the other one is refreshed")
    assert seen(volumes, pod, "/a/key") == "s3cret"


async def test_a_label_that_changes_changes_the_file_that_shows_it(
    world: World, volumes: Volumes
) -> None:
    labels = {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}
    pod = await world.pod("web", {"name": "a", "downwardAPI": {"items": [labels]}})
    await volumes.prepare(pod)
    assert seen(volumes, pod, "/a/labels") == ""

    await world.change(PODS, "web", {"metadata": {"labels": {"new": "yes"}}})
    await volumes.prepare(await world.admin.get(PODS, "web", "default"))

    assert seen(volumes, pod, "/a/labels") == 'new="yes"'


async def test_a_pod_gets_the_token_of_its_account_and_who_signed_the_server(
    world: World, volumes: Volumes
) -> None:
    await world.config_map("kube-root-ca.crt", **{"ca.crt": "PEM"})
    sources = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 600}},
        {"serviceAccountToken": {"path": "vault", "audience": "vault"}},
        {"configMap": {"name": "kube-root-ca.crt"}},
    ]
    pod = await world.pod("web", {"name": "a", "projected": {"sources": sources}})

    await volumes.prepare(pod)

    claims = claims_of(seen(volumes, pod, "/a/token"))
    assert claims["sub"] == "system:serviceaccount:default:default"
    assert claims["kubernetes.io"]["pod"] == {"name": "web", "uid": pod.metadata.uid}
    assert claims["exp"] - claims["iat"] == 600
    assert claims_of(seen(volumes, pod, "/a/vault"))["aud"] == ["vault"]
    assert seen(volumes, pod, "/a/ca.crt") == "PEM"
    before = seen(volumes, pod, "/a/token")
    await volumes.prepare(pod)
    assert seen(volumes, pod, "/a/token") == before


async def test_a_secret_is_for_the_group_of_the_pod(world: World, volumes: Volumes) -> None:
    await world.secret("keys", key="s3cret")
    pod = await world.pod(
        "web",
        {"name": "a", "secret": {"secretName": "keys", "defaultMode": 0o400}},
        securityContext={"fsGroup": 4321},
    )

    await volumes.prepare(pod)

    found = (source(volumes, pod, "/a") / "key").stat()
    assert (found.st_gid, stat.S_IMODE(found.st_mode)) == (4321, 0o440)


async def test_a_new_process_finds_what_is_there_and_goes_on(world: World) -> None:
    await world.config_map("settings", color="blue")
    pod = await world.pod("web", {"name": "a", "configMap": {"name": "settings"}})
    async with world.volumes() as before:
        await before.prepare(pod)
        version = (source(before, pod, "/a") / "..data").readlink()
    await world.change(CONFIG_MAPS, "settings", {"metadata": {"labels": {"x": "y"}}})

    async with world.volumes() as after:
        await after.prepare(pod)
        folder = source(after, pod, "/a")
        assert (folder / "..data").readlink() == version
        await world.change(CONFIG_MAPS, "settings", {"data": {"color": "red"}})
        await until(lambda: (folder / "color").read_text() == "red", "the file changes")


async def test_a_reboot_takes_what_was_in_memory_and_it_is_made_anew(world: World) -> None:
    await world.secret("keys", key="s3cret")
    pod = await world.pod("web", {"name": "a", "secret": {"secretName": "keys"}})
    async with world.volumes() as before:
        await before.prepare(pod)
    mounts.unmount_below(world.home)

    async with world.volumes() as after:
        await after.prepare(pod)
        assert seen(after, pod, "/a/key") == "s3cret"


async def test_a_token_is_renewed_while_the_pod_runs(
    world: World, volumes: Volumes, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = timedelta(seconds=1.5)
    monkeypatch.setattr(token, "renew_at", lambda issued, _: issued + soon)
    sources = [{"serviceAccountToken": {"path": "token"}}]
    pod = await world.pod("web", {"name": "a", "projected": {"sources": sources}})
    await volumes.prepare(pod)
    first = seen(volumes, pod, "/a/token")

    await until(lambda: seen(volumes, pod, "/a/token") != first, "there is another token")

    assert claims_of(seen(volumes, pod, "/a/token"))["jti"] != claims_of(first)["jti"]
