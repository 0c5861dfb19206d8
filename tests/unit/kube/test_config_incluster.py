"""The configuration of a pod."""

from pathlib import Path

import pytest

from kubevirt.base.clock import Clock
from kubevirt.base.errors import ConfigError
from kubevirt.kube.access import default_config, incluster

ENV = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("first")
    (tmp_path / "ca.crt").write_text("PEM")
    (tmp_path / "namespace").write_text("blue")
    return tmp_path


async def test_a_pod_finds_its_server_and_its_service_account(account: Path, clock: Clock) -> None:
    config = incluster.load(ENV, account)
    assert config.server == "https://10.0.0.1:443"
    assert config.namespace == "blue"
    assert config.ca is not None
    assert config.ca.read() == b"PEM"
    assert (await config.credentials.identity(clock)).authorization == "Bearer first"


async def test_a_replaced_token_is_used_at_once(account: Path, clock: Clock) -> None:
    config = incluster.load(ENV, account)
    await config.credentials.identity(clock)
    (account / "new").write_text("second")
    (account / "new").replace(account / "token")
    assert (await config.credentials.identity(clock)).authorization == "Bearer second"


async def test_a_token_swapped_by_link_as_kubelet_does_is_used_at_once(
    tmp_path: Path, clock: Clock
) -> None:
    for number in (1, 2):
        folder = tmp_path / f"..data_{number}"
        folder.mkdir()
        (folder / "token").write_text(f"token-{number}")
        (folder / "ca.crt").write_text("PEM")
    (tmp_path / "..data").symlink_to("..data_1")
    for name in ("token", "ca.crt"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    config = incluster.load(ENV, tmp_path)
    assert (await config.credentials.identity(clock)).authorization == "Bearer token-1"
    (tmp_path / "..tmp").symlink_to("..data_2")
    (tmp_path / "..tmp").replace(tmp_path / "..data")
    assert (await config.credentials.identity(clock)).authorization == "Bearer token-2"


async def test_a_token_that_is_away_for_a_moment_still_counts(account: Path, clock: Clock) -> None:
    config = incluster.load(ENV, account)
    before = await config.credentials.identity(clock)
    (account / "token").unlink()
    assert await config.credentials.identity(clock) == before
    (account / "token").write_text("")
    assert await config.credentials.identity(clock) == before


async def test_a_token_file_that_was_never_filled_is_named(account: Path, clock: Clock) -> None:
    (account / "token").write_text("")
    with pytest.raises(ConfigError, match=r"service account token .*/token is empty"):
        await incluster.load(ENV, account).credentials.identity(clock)


def test_an_ipv6_server_is_written_in_brackets(account: Path) -> None:
    env = {**ENV, "KUBERNETES_SERVICE_HOST": "fd00::1"}
    assert incluster.load(env, account).server == "https://[fd00::1]:443"


def test_without_a_namespace_file_it_is_default(account: Path) -> None:
    (account / "namespace").unlink()
    assert incluster.load(ENV, account).namespace == "default"


def test_outside_of_a_pod_it_says_so(account: Path) -> None:
    with pytest.raises(ConfigError, match=r"this is no pod.*kubeconfig"):
        incluster.load({}, account)


@pytest.mark.parametrize("name", ["token", "ca.crt"])
def test_a_pod_without_a_service_account_is_told_how_to_get_one(account: Path, name: str) -> None:
    (account / name).unlink()
    with pytest.raises(ConfigError, match=rf"{name} is missing.*automountServiceAccountToken"):
        incluster.load(ENV, account)


@pytest.mark.parametrize("token", ["two words", "line\nline", "tab\there", "ü", " "])
async def test_a_token_that_would_break_the_header_is_refused_unseen(
    account: Path, clock: Clock, token: str
) -> None:
    (account / "token").write_text(token)
    config = incluster.load(ENV, account)
    with pytest.raises(ConfigError, match="holds no bearer token") as caught:
        await config.credentials.identity(clock)
    assert token not in str(caught.value) or token == " "


def test_a_program_without_kubeconfig_uses_the_pods_own(account: Path) -> None:
    env = {**ENV, "HOME": str(account)}
    assert default_config.find(env, account=account).server == "https://10.0.0.1:443"
