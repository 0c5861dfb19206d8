"""Who a container runs as."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.embedded.node.objects import a_pod, container

from kubevirt.embedded.node import accounts, users
from kubevirt.embedded.node.accounts import BUILT_IN, Account, Accounts
from kubevirt.embedded.node.users import NotAllowed, User

KNOWN = Accounts(
    users=(
        Account(name="root", user=0, group=0, home="/root"),
        Account(name="app", user=100, group=101, home="/srv"),
    ),
    groups=(("app", 101, ()), ("more", 102, ("app",)), ("wheel", 10, ("root",))),
)


def user(
    own: dict[str, Any] | None = None,
    pods: dict[str, Any] | None = None,
    image: str = "",
    known: Accounts = KNOWN,
) -> User:
    pod = a_pod(container("main", securityContext=own or {}), securityContext=pods or {})
    assert pod.spec is not None
    return users.of(pod, pod.spec.containers[0], image, known)


def test_who_says_nothing_is_root_with_its_groups() -> None:
    found = user()

    assert (found.rights.user, found.rights.group, found.rights.groups) == (0, 0, (10,))
    assert found.home == "/root"
    assert "CHOWN" in found.rights.capabilities
    assert found.rights.is_filtered


def test_an_image_names_its_user_by_name_or_by_number() -> None:
    for name in ("app", "100", "app:app", "100:101"):
        found = user(image=name)
        assert (found.rights.user, found.rights.group, found.rights.groups) == (100, 101, (102,))
        assert found.home == "/srv"


def test_a_number_that_nobody_knows_is_a_user_as_well() -> None:
    found = user(image="4711")

    assert (found.rights.user, found.rights.group, found.rights.groups) == (4711, 0, ())
    assert found.home == "/"


def test_a_name_that_nobody_knows_is_refused() -> None:
    with pytest.raises(NotAllowed, match="unable to find user nobody: no matching entries"):
        user(image="nobody")
    with pytest.raises(NotAllowed, match="unable to find group nobody: no matching entries"):
        user(image="app:nobody")


def test_a_container_goes_before_its_pod_and_both_before_the_image() -> None:
    assert user({"runAsUser": 7}, {"runAsUser": 8}, "app").rights.user == 7
    assert user({}, {"runAsUser": 8}, "app").rights.user == 8
    assert user({"runAsGroup": 5}, {"runAsGroup": 6}).rights.group == 5
    assert user({}, {"runAsGroup": 6}, "app:app").rights.group == 6


def test_volumes_of_a_pod_are_open_to_its_containers() -> None:
    found = user({}, {"fsGroup": 70, "supplementalGroups": [71, 72]}, "app")

    assert found.rights.groups == (70, 71, 72, 102)


def test_groups_of_an_image_can_be_left_out() -> None:
    context = {"supplementalGroups": [71], "supplementalGroupsPolicy": "Strict"}

    assert user({}, context, "app").rights.groups == (71,)


@pytest.mark.parametrize(
    ("own", "image", "words"),
    [
        (
            {"runAsNonRoot": True},
            "",
            'container has runAsNonRoot and image will run as root (pod: "web_home(u1)", container: main)',
        ),
        (
            {"runAsNonRoot": True},
            "app",
            (
                "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is"
                ' non-root (pod: "web_home(u1)", container: main)'
            ),
        ),
        (
            {"runAsNonRoot": True, "runAsUser": 0},
            "",
            'container\'s runAsUser breaks non-root policy (pod: "web_home(u1)", container: main)',
        ),
    ],
    ids=["image is root", "image has a name", "asks for root"],
)
def test_who_must_not_be_root_and_may_be_is_refused(
    own: dict[str, Any], image: str, words: str
) -> None:
    with pytest.raises(NotAllowed) as refused:
        user(own, image=image)

    assert str(refused.value) == words
    assert refused.value.reason == "CreateContainerConfigError"


def test_who_must_not_be_root_and_is_not_may_come() -> None:
    assert user({"runAsNonRoot": True}, image="100").rights.user == 100
    assert user({"runAsNonRoot": True, "runAsUser": 5}).rights.user == 5
    assert user({"runAsNonRoot": False}, {"runAsNonRoot": True}).rights.user == 0


def test_rights_can_be_taken_away_and_given() -> None:
    own = {"capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN"]}}

    assert user(own).rights.capabilities == ("NET_ADMIN",)


def test_system_calls_are_filtered_unless_somebody_says_otherwise() -> None:
    free = {"seccompProfile": {"type": "Unconfined"}}

    assert not user(free).rights.is_filtered
    assert not user({}, free).rights.is_filtered
    assert user({"seccompProfile": {"type": "RuntimeDefault"}}, free).rights.is_filtered


def test_accounts_are_read_from_the_files_of_an_image(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text("app:x:100:101:An app:/srv:/bin/sh\nbroken\nx:x:y:z:::\n")
    (tmp_path / "etc/group").write_text("app:x:101:\nmore:x:102:app,other\nbroken:x\n")

    found = accounts.read(tmp_path)

    assert found.user("app") == Account(name="app", user=100, group=101, home="/srv")
    assert found.groups_of("app") == (102,)
    assert found.group("more") == 102


def test_links_out_of_an_image_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").symlink_to("/etc/passwd")

    assert accounts.read(tmp_path) == Accounts()
    assert accounts.read(tmp_path / "missing") == Accounts()
    assert accounts.read(None) == BUILT_IN
