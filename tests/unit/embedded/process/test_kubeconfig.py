"""The user's kubeconfig gets one context more, and loses it again."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubevirt.base.errors import ConfigError
from kubevirt.embedded.process import kubeconfig
from kubevirt.kube.access import kubeconfig as reading

OTHERS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "preferences": {"colors": True},
    "clusters": [{"name": "lab", "cluster": {"server": "https://lab:6443", "x-unknown": [1, 2]}}],
    "users": [{"name": "ann", "user": {"token": "secret"}}],
    "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "ann"}}],
    "current-context": "lab",
}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return _written(tmp_path / "own", "https://127.0.0.1:6443", b"authority")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "user" / "config"


def _written(place: Path, url: str, authority: bytes) -> Path:
    content = kubeconfig.content(url, authority, b"certificate", b"key")
    place.write_bytes(kubeconfig.text(content))
    return place


def _in(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(file.read_text())
    return found


def test_our_own_file_is_one_that_clients_understand(own: Path) -> None:
    config = reading.load([own], {})
    assert config.server == "https://127.0.0.1:6443"
    assert config.ca is not None
    assert config.ca.read() == b"authority"


def test_a_user_without_a_file_gets_one_for_themselves(file: Path, own: Path) -> None:
    assert kubeconfig.merge(file, own)
    assert _in(file)["current-context"] == "kubevirt"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["config"]


def test_other_entries_stay_as_they_are(file: Path, own: Path) -> None:
    file.parent.mkdir()
    file.write_text(yaml.dump(OTHERS))
    file.chmod(0o640)
    kubeconfig.merge(file, own)
    found = _in(file)
    assert found["current-context"] == "lab"
    assert found["preferences"] == OTHERS["preferences"]
    for kind in ("clusters", "users", "contexts"):
        assert found[kind][0] == OTHERS[kind][0]
        assert found[kind][1]["name"] == "kubevirt"
    assert file.stat().st_mode & 0o777 == 0o640


def test_merging_twice_changes_nothing(file: Path, own: Path) -> None:
    kubeconfig.merge(file, own)
    before = file.stat()
    assert not kubeconfig.merge(file, own)
    assert file.stat().st_mtime_ns == before.st_mtime_ns


def test_a_new_address_takes_the_place_of_the_old_one(file: Path, own: Path) -> None:
    kubeconfig.merge(file, own)
    kubeconfig.merge(file, _written(own, "https://127.0.0.1:7000", b"authority"))
    assert [each["cluster"]["server"] for each in _in(file)["clusters"]] == [
        "https://127.0.0.1:7000"
    ]


def test_what_was_put_in_is_taken_out_again(file: Path, own: Path) -> None:
    file.parent.mkdir()
    file.write_text(yaml.dump(OTHERS))
    kubeconfig.merge(file, own)
    assert kubeconfig.take_out(file, own)
    assert _in(file) == OTHERS


def test_a_context_of_another_home_is_not_taken_out(file: Path, own: Path, tmp_path: Path) -> None:
    kubeconfig.merge(file, own)
    other = _written(tmp_path / "other", "https://127.0.0.1:7000", b"another authority")
    assert not kubeconfig.take_out(file, other)
    assert _in(file)["clusters"]


def test_nothing_is_taken_out_of_a_file_that_is_not_there(file: Path, own: Path) -> None:
    assert not kubeconfig.take_out(file, own)
    assert not file.exists()


@pytest.mark.parametrize("text", ["{", "- a\n- b\n", "clusters: nonsense\n", "users: [1]\n"])
def test_a_broken_file_is_not_touched(file: Path, own: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ConfigError, match="was not touched"):
        kubeconfig.merge(file, own)
    assert file.read_text() == text
    assert [each.name for each in file.parent.iterdir()] == ["config"]


def test_a_link_stays_a_link(file: Path, own: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles"
    target.write_text(yaml.dump(OTHERS))
    file.parent.mkdir()
    file.symlink_to(target)
    kubeconfig.merge(file, own)
    assert file.is_symlink()
    assert len(_in(target)["clusters"]) == 2


def test_a_file_that_kubectl_is_writing_is_waited_for(
    file: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubeconfig, "_LOCK_S", 0.0)
    file.parent.mkdir()
    lock = file.with_name("config.lock")
    lock.touch()
    with pytest.raises(ConfigError, match="somebody is writing"):
        kubeconfig.merge(file, own)
    assert lock.exists()
    assert not file.exists()


def test_the_file_is_found_as_kubectl_finds_it() -> None:
    listed = os.pathsep.join(["", "/a", "/b"])
    assert kubeconfig.user_file({"KUBECONFIG": listed, "HOME": "/home/ann"}) == Path("/a")
    assert kubeconfig.user_file({"HOME": "/home/ann"}) == Path("/home/ann/.kube/config")
