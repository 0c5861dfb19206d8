"""Volumes whose files come from objects: configMap, secret, downwardAPI, projected, tokens."""

import base64
import json
import uuid

from tests.pods.objects import WAIT, Object, a_config_map, a_pod, a_secret, state_of
from tests.pods.place import LIMIT_S, Place
from tests.pods.programs import fetch

from clusterup import waiting
from kubevirt.api import scheme

MODE = "stat -L -c '%a %n'"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def mounted(**source: Object) -> Object:
    """A pod's volume of this source, at /v."""
    return {
        "volumes": [{"name": "v", **source}],
        "container": {"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
    }


async def test_a_config_map_is_a_folder_of_its_keys(place: Place) -> None:
    await place.create(
        {
            **a_config_map("settings", colour="blue", size="large"),
            "binaryData": {"raw": base64.b64encode(b"\0\1").decode()},
        }
    )
    script = f"cd /v; ls; cat colour; echo; od -An -tx1 raw; {MODE} colour"
    said = await place.output(script, **mounted(configMap={"name": "settings"}))
    assert said.split() == ["colour", "raw", "size", "blue", "00", "01", "644", "colour"]


async def test_items_choose_keys_paths_and_modes(place: Place) -> None:
    await place.create(a_config_map("settings", colour="blue", size="large"))
    items = [
        {"key": "colour", "path": "deep/er/tint", "mode": 0o400},
        {"key": "size", "path": "size"},
    ]
    source = {"name": "settings", "items": items, "defaultMode": 0o640}
    script = f"cd /v; cat deep/er/tint; echo; ls; {MODE} deep/er/tint size"
    said = await place.output(script, **mounted(configMap=source))
    assert said.split() == ["blue", "deep", "size", "400", "deep/er/tint", "640", "size"]


async def test_a_change_of_a_config_map_is_seen_in_the_pod(place: Place) -> None:
    await place.create(a_config_map("settings", colour="blue", gone="soon"))
    await place.run(a_pod("reader", **mounted(configMap={"name": "settings"})))
    assert await place.sh("reader", "cat /v/colour") == "blue"
    await place.change("settings", {"data": {"colour": "red", "gone": None}}, "ConfigMap")

    # A kubelet looks once a minute, and whenever the pod itself changes.
    async def is_seen() -> bool:
        await place.change("reader", {"metadata": {"annotations": {"nudge": uuid.uuid4().hex}}})
        code, said = await place.try_sh("reader", "cat /v/colour; echo; ls /v")
        return (code, said.split()) == (0, ["red", "colour"])

    await waiting.until(is_seen, limit_s=LIMIT_S, what="the change in the pod", every_s=1)


async def test_an_optional_config_map_may_be_missing(place: Place) -> None:
    source = {"name": "nothing", "optional": True}
    assert (
        await place.output("ls -A /v | grep -v '^[.][.]' | wc -l", **mounted(configMap=source))
        == "0\n"
    )


async def test_a_pod_waits_for_a_config_map_that_it_mounts(place: Place) -> None:
    await place.create(a_pod("waiting", **mounted(configMap={"name": "later"})))
    told = await place.until_event("waiting", "FailedMount", 'configmap "later" not found')
    assert told["type"] == "Warning"
    pod = await place.until_waiting("waiting", "ContainerCreating")
    assert "running" not in state_of(pod)
    await place.create(a_config_map("later", colour="blue"))
    await place.until_ready("waiting")


async def test_a_key_that_is_missing_keeps_the_pod_waiting(place: Place) -> None:
    await place.create(a_config_map("settings", colour="blue"))
    source = {"name": "settings", "items": [{"key": "nothing", "path": "p"}]}
    await place.create(a_pod("waiting", **mounted(configMap=source)))
    await place.until_event("waiting", "FailedMount", "references non-existent config key: nothing")


async def test_a_secret_is_a_folder_of_plain_values(place: Place) -> None:
    await place.create(a_secret("hidden", password="opensesame"))
    source = {"secretName": "hidden", "defaultMode": 0o400}
    said = await place.output(
        f"cat /v/password; echo; {MODE} /v/password", **mounted(secret=source)
    )
    assert said.split() == ["opensesame", "400", "/v/password"]


async def test_files_from_objects_cannot_be_written(place: Place) -> None:
    await place.create(a_config_map("settings", colour="blue"), a_secret("hidden", password="p"))
    for name, source in (
        ("map", {"configMap": {"name": "settings"}}),
        ("secret", {"secret": {"secretName": "hidden"}}),
    ):
        said = await place.output("touch /v/new 2>&1 || echo refused", name, **mounted(**source))
        assert "refused" in said


async def test_the_downward_api_tells_of_the_pod_in_files(place: Place) -> None:
    def item(path: str, field: str) -> Object:
        return {"path": path, "fieldRef": {"fieldPath": field}}

    limit = {"containerName": "main", "resource": "limits.memory", "divisor": "1Mi"}
    volume = mounted(
        downwardAPI={
            "items": [
                item("name", "metadata.name"),
                item("labels", "metadata.labels"),
                item("annotations", "metadata.annotations"),
                {"path": "memory", "resourceFieldRef": limit},
            ]
        }
    )
    volume["container"]["resources"] = {"limits": {"memory": "64Mi"}}
    metadata = {
        "name": "mirror",
        "labels": {"app": "mirror", "size": "large"},
        "annotations": {"note": 'a "note"\nof two lines'},
    }
    await place.run(a_pod("mirror", WAIT, metadata=metadata, **volume))
    said = await place.sh("mirror", "cd /v; cat name; echo; cat memory; echo; cat labels")
    assert said.split() == ["mirror", "64", 'app="mirror"', 'size="large"']
    assert r'note="a \"note\"\nof two lines"' in await place.sh("mirror", "cat /v/annotations")
    await place.change("mirror", {"metadata": {"labels": {"size": "small"}}})
    await place.eventually("mirror", "cat /v/labels", lambda said: 'size="small"' in said)


async def test_a_projected_volume_puts_several_sources_into_one_folder(place: Place) -> None:
    await place.create(a_config_map("settings", colour="blue"), a_secret("hidden", password="p"))
    sources = [
        {"configMap": {"name": "settings", "items": [{"key": "colour", "path": "all/colour"}]}},
        {"secret": {"name": "hidden"}},
        {"downwardAPI": {"items": [{"path": "me", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"serviceAccountToken": {"path": "token", "audience": "somebody"}},
    ]
    volume = mounted(projected={"sources": sources, "defaultMode": 0o440})
    script = f"cd /v; ls; cat all/colour; echo; cat me; echo; {MODE} password; test -s token"
    said = await place.output(script, **volume)
    assert said.split() == ["all", "me", "password", "token", "blue", "probe", "440", "password"]


async def test_a_token_is_for_its_audience_and_its_pod(place: Place) -> None:
    token = {"serviceAccountToken": {"path": "token", "audience": "lamp", "expirationSeconds": 900}}
    pod = await place.run(a_pod("bearer", WAIT, **mounted(projected={"sources": [token]})))
    said = await place.sh("bearer", "cat /v/token")
    review = {"spec": {"token": said, "audiences": ["lamp"]}}
    answer = await place.client.create(scheme.TOKEN_REVIEWS.raw, review)
    assert answer["status"]["authenticated"] is True
    assert answer["status"]["audiences"] == ["lamp"]
    user = answer["status"]["user"]
    assert user["username"] == f"system:serviceaccount:{place.namespace}:default"
    assert user["extra"]["authentication.kubernetes.io/pod-uid"] == [pod["metadata"]["uid"]]
    claims = said.split(".")[1]
    body = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    assert body["exp"] - body["iat"] == 900
    review = {"spec": {"token": said, "audiences": ["somebody else"]}}
    answer = await place.client.create(scheme.TOKEN_REVIEWS.raw, review)
    assert not answer["status"].get("authenticated")


async def test_every_pod_can_speak_to_the_api_server_as_its_service_account(place: Place) -> None:
    await place.run(a_pod("client"))
    assert (await place.sh("client", f"ls {ACCOUNT}")).split() == ["ca.crt", "namespace", "token"]
    assert await place.sh("client", f"cat {ACCOUNT}/namespace") == place.namespace
    header = f"Authorization: Bearer $(cat {ACCOUNT}/token)"
    script = fetch("https://kubernetes.default.svc/version", header)
    said = await place.eventually("client", script, lambda said: "gitVersion" in said)
    assert json.loads(said)["major"] == "1"


async def test_a_pod_may_do_without_a_token(place: Place) -> None:
    script = f"test -e {ACCOUNT} || echo nothing"
    assert await place.output(script, automountServiceAccountToken=False) == "nothing\n"
