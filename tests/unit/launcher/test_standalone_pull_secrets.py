"""Image pull secrets, as kubectl makes them."""

import base64
import json

import pytest

from kubevirt.base.errors import UserError
from kubevirt.components.launcher.standalone.pull_secrets import KEY, logins


def a_secret(**auths: dict[str, str]) -> dict[str, dict[str, bytes]]:
    named = {name.replace("__", "://").replace("_", "."): entry for name, entry in auths.items()}
    return {"pull": {KEY: json.dumps({"auths": named}).encode()}}


def test_user_and_password_are_read_in_either_spelling() -> None:
    encoded = base64.b64encode(b"me:a:b").decode()
    secrets = a_secret(quay_io={"username": "you", "password": "x"}, ghcr_io={"auth": encoded})
    assert logins(secrets, "pull") == {"quay.io": ("you", "x"), "ghcr.io": ("me", "a:b")}


def test_dockers_own_registry_is_known_by_its_url() -> None:
    config = {"auths": {"https://index.docker.io/v1/": {"username": "you", "password": "x"}}}
    secrets = {"pull": {KEY: json.dumps(config).encode()}}
    assert logins(secrets, "pull") == {"docker.io": ("you", "x")}


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"auths": {"quay.io": {"auth": "?"}}}', b'{"auths": {"q": {}}}']
)
def test_one_that_cannot_be_used_is_told_without_what_it_holds(content: bytes) -> None:
    with pytest.raises(UserError) as refused:
        logins({"pull": {KEY: content}}, "pull")
    assert "kubectl create secret docker-registry" in str(refused.value)
    assert "quay" not in str(refused.value)


def test_one_that_is_missing_is_told_with_the_way_out() -> None:
    with pytest.raises(UserError, match="put it into the same file"):
        logins({}, "pull")
