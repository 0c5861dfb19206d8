"""What volumes of objects come to, as files."""

from base64 import b64encode
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from tests.unit.embedded.node.objects import a_pod, at, container

from kubevirt.api.core.namespace import ConfigMap, Secret
from kubevirt.api.core.pod_volumes import Volume
from kubevirt.base.errors import Retry
from kubevirt.embedded.node.volumes import folders, projected, token
from kubevirt.embedded.node.volumes.contents import Origin


def encoded(data: bytes) -> str:
    return b64encode(data).decode()


def origin(**spec: Any) -> Origin:
    return Origin(
        pod=a_pod(container("main"), metadata={"labels": {"b": "2", "a": "1"}}, **spec),
        config_maps={
            "settings": ConfigMap(data={"color": "blue"}, binary_data={"raw": encoded(b"\xff")})
        },
        secrets={"keys": Secret(data={"token": encoded(b"s3cret")})},
        tokens={("v", "token"): "jwt"},
    )


def files(source: Origin | None = None, **volume: Any) -> dict[str, tuple[bytes, int]]:
    found = projected.files(msgspec.convert({"name": "v", **volume}, Volume), source or origin())
    assert found is not None
    return {path: (file.data, file.mode) for path, file in found.items()}


def test_a_config_map_is_text_and_bytes() -> None:
    assert files(configMap={"name": "settings"}) == {
        "color": (b"blue", 0o644),
        "raw": (b"\xff", 0o644),
    }


def test_entries_have_the_paths_and_modes_that_are_asked_for() -> None:
    items = [{"key": "token", "path": "deep/in"}]
    moded = [{"key": "token", "path": "in", "mode": 0}]

    assert files(secret={"secretName": "keys", "defaultMode": 0o400, "items": items}) == {
        "deep/in": (b"s3cret", 0o400)
    }
    assert files(secret={"secretName": "keys", "items": moded}) == {"in": (b"s3cret", 0)}


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        ({"configMap": {"name": "no"}}, 'configmap "no" not found'),
        ({"secret": {"secretName": "no"}}, 'secret "no" not found'),
        (
            {"configMap": {"name": "settings", "items": [{"key": "no", "path": "x"}]}},
            "configmap references non-existent config key: no",
        ),
        (
            {"secret": {"secretName": "keys", "items": [{"key": "no", "path": "x"}]}},
            "references non-existent secret key: no",
        ),
    ],
)
def test_what_is_missing_is_waited_for_unless_it_is_optional(
    volume: dict[str, Any], message: str
) -> None:
    with pytest.raises(Retry) as raised:
        files(**volume)

    assert str(raised.value) == message
    ((kind, source),) = volume.items()
    lenient: dict[str, Any] = {kind: {**source, "optional": True}}
    assert files(**lenient) == {}


def test_a_pod_finds_what_it_may_know_of_itself() -> None:
    items = [
        {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
        {"path": "name", "fieldRef": {"fieldPath": "metadata.name"}, "mode": 0o400},
        {"path": "cpu", "resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}},
    ]

    assert files(downwardAPI={"items": items}) == {
        "labels": (b'a="1"\nb="2"', 0o644),
        "name": (b"web", 0o400),
        "cpu": (b"0", 0o644),
    }


def test_several_sources_share_a_folder_and_the_last_one_counts() -> None:
    sources = [
        {"configMap": {"name": "settings", "items": [{"key": "color", "path": "token"}]}},
        {"secret": {"name": "keys", "items": [{"key": "token", "path": "key"}]}},
        {"serviceAccountToken": {"path": "token"}},
        {"downwardAPI": {"items": [{"path": "uid", "fieldRef": {"fieldPath": "metadata.uid"}}]}},
    ]

    assert files(projected={"sources": sources}) == {
        "uid": (b"u1", 0o644),
        "token": (b"jwt", 0o644),
        "key": (b"s3cret", 0o644),
    }


def test_a_token_is_for_the_group_of_the_pod_alone() -> None:
    grouped = origin(securityContext={"fsGroup": 107})
    sources = [{"serviceAccountToken": {"path": "token"}}]

    assert files(grouped, projected={"sources": sources}) == {"token": (b"jwt", 0o600)}


def test_a_pod_waits_for_its_token() -> None:
    with pytest.raises(Retry):
        files(projected={"sources": [{"serviceAccountToken": {"path": "other"}}]})


def test_a_volume_of_another_kind_has_no_such_contents() -> None:
    volume = msgspec.convert({"name": "v", "emptyDir": {}}, Volume)

    assert projected.files(volume, origin()) is None
    assert folders.of(volume) == "volumes/kubernetes.io~empty-dir/v"


def test_a_pod_says_which_tokens_it_wants() -> None:
    sources = [
        {"serviceAccountToken": {"path": "a"}},
        {"serviceAccountToken": {"path": "b", "audience": "vault", "expirationSeconds": 600}},
    ]
    pod = a_pod(volumes=[{"name": "v", "projected": {"sources": sources}}])

    assert list(token.wanted(pod)) == [
        token.Wanted(volume="v", path="a"),
        token.Wanted(volume="v", path="b", audience="vault", life_s=600),
    ]


@pytest.mark.parametrize(("life", "renewed"), [(3600, 2880), (600, 480), (10**7, 86400)])
def test_a_token_is_renewed_before_its_end_and_once_a_day(life: int, renewed: int) -> None:
    assert token.renew_at(at(0), at(0) + timedelta(seconds=life)) == at(renewed)
