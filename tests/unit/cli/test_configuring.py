"""From flags and kubeconfig to whom a client asks, and as whom."""

from pathlib import Path

import pytest
import yaml

from kubevirt.base.clock import SystemClock
from kubevirt.base.errors import ConfigError
from kubevirt.cli.access import Access
from kubevirt.cli.configuring import configured

FILE = {
    "current-context": "lab",
    "contexts": [
        {"name": "lab", "context": {"cluster": "one", "user": "ann", "namespace": "rats"}},
        {"name": "other", "context": {"cluster": "two", "user": "ann"}},
    ],
    "clusters": [
        {"name": "one", "cluster": {"server": "https://one:6443"}},
        {"name": "two", "cluster": {"server": "https://two:6443"}},
    ],
    "users": [
        {"name": "ann", "user": {"token": "anns"}},
        {"name": "bob", "user": {"username": "bob", "password": "b"}},
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(FILE))
    return str(path)


def test_the_kubeconfig_decides_what_no_flag_says(file: str) -> None:
    config = configured(Access(), {"KUBECONFIG": file})
    assert (config.server, config.namespace) == ("https://one:6443", "rats")


@pytest.mark.parametrize(
    ("access", "server", "namespace"),
    [
        (Access(context="other"), "https://two:6443", "default"),
        (Access(cluster="two"), "https://two:6443", "rats"),
        (Access(server="https://three:1/"), "https://three:1", "rats"),
        (Access(namespace="mice"), "https://one:6443", "mice"),
    ],
)
def test_a_flag_wins(file: str, access: Access, server: str, namespace: str) -> None:
    config = configured(access, {"KUBECONFIG": file})
    assert (config.server, config.namespace) == (server, namespace)


@pytest.mark.parametrize(
    ("access", "authorization"),
    [
        (Access(user="bob"), "Basic Ym9iOmI="),
        (Access(token="mine"), "Bearer mine"),
        (Access(user="bob", token="mine"), "Bearer mine"),
        (Access(username="eve", password="e"), "Basic ZXZlOmU="),
    ],
)
async def test_a_flag_says_who_asks(file: str, access: Access, authorization: str) -> None:
    config = configured(access, {"KUBECONFIG": file})
    identity = await config.credentials.identity(SystemClock())
    assert identity.authorization == authorization


def test_a_server_and_a_token_need_no_file(tmp_path: Path) -> None:
    config = configured(Access(server="https://one:1", token="t"), {"HOME": str(tmp_path)})
    assert config.server == "https://one:1"


def test_others_may_be_acted_as(file: str) -> None:
    config = configured(
        Access(impersonate="jo", impersonate_groups=("a",), impersonate_uid="7"),
        {"KUBECONFIG": file},
    )
    assert config.impersonate is not None
    assert (config.impersonate.user, config.impersonate.groups) == ("jo", ("a",))


@pytest.mark.parametrize(
    "access",
    [
        Access(kubeconfig="/nonexistent"),
        Access(context="nowhere"),
        Access(impersonate_groups=("a",)),
        Access(client_certificate="/a"),
        Access(certificate_authority="/a", insecure_skip_tls_verify=True),
        Access(server="one"),
    ],
)
def test_what_contradicts_itself_is_refused(file: str, access: Access) -> None:
    with pytest.raises(ConfigError):
        configured(access, {"KUBECONFIG": file})
