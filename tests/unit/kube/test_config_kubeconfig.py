"""kubeconfig files: what kubectl accepts we accept, and what is broken is named."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.errors import ConfigError
from kubevirt.kube.access import default_config, kubeconfig
from kubevirt.kube.access.config import Config, Impersonation
from kubevirt.kube.access.credentials import Identity
from kubevirt.kube.access.exec_plugin import ExecCredentials
from kubevirt.kube.http.request import Limits, Request
from kubevirt.kube.http.transport import Transport

SECRET = "s3cr3t-t0k3n"

Write = Callable[..., Path]


def a_kubeconfig(**changes: Any) -> dict[str, Any]:
    """A context `lab` with a cluster and a user, which `cluster=`, `user=`, `context=` add to."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "clusters": [
            {
                "name": "lab-cluster",
                "cluster": {"server": "https://lab:6443", **changes.get("cluster", {})},
            }
        ],
        "users": [{"name": "ann", "user": changes.get("user", {})}],
        "contexts": [
            {
                "name": "lab",
                "context": {"cluster": "lab-cluster", "user": "ann", **changes.get("context", {})},
            }
        ],
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: Any, name: str = "config") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    return write


def load(*paths: Path, **choice: str) -> Config:
    return kubeconfig.load(paths, {}, **choice)


def refusal(*paths: Path, **choice: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(*paths, **choice)
    return str(caught.value)


async def test_a_context_joins_a_cluster_and_a_user(write: Write, clock: Clock) -> None:
    path = write(a_kubeconfig(user={"token": SECRET}, context={"namespace": "blue"}))
    config = load(path)
    assert config.server == "https://lab:6443"
    assert config.namespace == "blue"
    assert config.origin == f'context "lab" of {path}'
    assert await config.credentials.identity(clock) == Identity(f"Bearer {SECRET}")


def test_json_is_yaml_too(write: Write) -> None:
    assert load(write('{"current-context": "c", "contexts": [{"name": "c", "context":'
                      ' {"cluster": "k"}}], "clusters": [{"name": "k", "cluster":'
                      ' {"server": "https://k"}}]}')).server == "https://k"  # fmt: skip


def test_lists_that_kubectl_writes_as_null_are_empty(write: Write) -> None:
    content = a_kubeconfig(user={"token": SECRET, "as-groups": None})
    assert load(write({**content, "preferences": {}, "extensions": None})).impersonate is None


def test_another_context_can_be_chosen(write: Write) -> None:
    content = a_kubeconfig()
    content["contexts"].append({"name": "blue", "context": {"cluster": "b", "user": "ann"}})
    content["clusters"].append({"name": "b", "cluster": {"server": "https://blue"}})
    path = write(content)
    assert load(path, context="blue").server == "https://blue"
    assert load(path, cluster="b").server == "https://blue"
    assert load(path).server == "https://lab:6443"


def test_of_several_files_the_first_that_has_a_name_wins_whole(write: Write) -> None:
    first = {"users": [{"name": "ann", "user": {"username": "ann", "password": SECRET}}]}
    second = a_kubeconfig(user={"token": SECRET})
    config = load(write(first, "first"), write(second, "second"))
    held = config.credentials
    assert "username='ann'" in repr(held)
    assert "token=None" in repr(held), "an entry is taken whole, nothing is added from the second"
    assert config.origin.startswith('context "lab"')


def test_the_first_current_context_wins(write: Write) -> None:
    second = a_kubeconfig()
    second["contexts"].append({"name": "mine", "context": {"cluster": "lab-cluster"}})
    config = load(write({"current-context": "mine"}, "first"), write(second, "second"))
    assert config.origin.startswith('context "mine"')


async def test_relative_paths_start_at_the_file_they_stand_in(write: Write, clock: Clock) -> None:
    write(SECRET + "\n", "deep/token")
    users = {"users": [{"name": "ann", "user": {"tokenFile": "token"}}]}
    config = load(write(users, "deep/users"), write(a_kubeconfig(), "top"))
    assert (await config.credentials.identity(clock)).authorization == f"Bearer {SECRET}"


async def test_a_token_file_wins_over_a_token(write: Write, clock: Clock) -> None:
    write("from-file", "token")
    config = load(write(a_kubeconfig(user={"token": "inline", "tokenFile": "token"})))
    assert (await config.credentials.identity(clock)).authorization == "Bearer from-file"


def test_cluster_settings_are_taken_over(write: Write) -> None:
    cluster = {
        "tls-server-name": "kubernetes",
        "proxy-url": "http://user:pass@proxy:3128",
        "certificate-authority-data": base64.b64encode(b"PEM").decode(),
        "disable-compression": True,
    }
    config = load(write(a_kubeconfig(cluster=cluster)))
    assert config.tls_server_name == "kubernetes"
    assert config.proxy_url == "http://user:pass@proxy:3128"
    assert config.disable_compression
    assert config.ca is not None
    assert config.ca.read() == b"PEM"


def test_impersonation_is_taken_over(write: Write) -> None:
    user = {
        "as": "bob",
        "as-uid": "7",
        "as-groups": ["ops"],
        "as-user-extra": {"scopes": ["a", "b"]},
    }
    assert load(write(a_kubeconfig(user=user))).impersonate == Impersonation(
        user="bob", uid="7", groups=("ops",), extra={"scopes": ["a", "b"]}
    )


@pytest.mark.parametrize(
    ("server", "address"),
    [
        ("https://lab:6443/", "https://lab:6443"),
        ("lab:8080", "http://lab:8080"),
        ("https://rancher/k8s/clusters/c-1", "https://rancher/k8s/clusters/c-1"),
        ("https://[::1]:6443", "https://[::1]:6443"),
    ],
)
def test_a_server_is_an_address_with_or_without_scheme_and_path(
    write: Write, server: str, address: str
) -> None:
    assert load(write(a_kubeconfig(cluster={"server": server}))).server == address


def test_a_context_without_a_user_asks_as_nobody(write: Write) -> None:
    content = a_kubeconfig()
    del content["contexts"][0]["context"]["user"]
    assert "token=None" in repr(load(write(content)).credentials)


def test_no_secret_is_shown_by_a_repr(write: Write) -> None:
    plugin = {
        "command": "login",
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "env": [{"name": "PASSWORD", "value": SECRET}],
    }
    encoded = base64.b64encode(SECRET.encode()).decode()
    for user in (
        {"token": SECRET},
        {"username": "ann", "password": SECRET},
        {"client-certificate-data": encoded, "client-key-data": encoded},
        {"exec": plugin},
    ):
        cluster = {"proxy-url": f"http://ann:{SECRET}@proxy"}
        shown = repr(load(write(a_kubeconfig(user=user, cluster=cluster))))
        assert SECRET not in shown
        assert encoded not in shown


def test_an_exec_plugin_makes_exec_credentials_unless_there_is_a_token(write: Write) -> None:
    plugin = {
        "command": "./login",
        "apiVersion": "client.authentication.k8s.io/v1",
        "interactiveMode": "Never",
        "args": None,
        "env": None,
    }
    assert isinstance(load(write(a_kubeconfig(user={"exec": plugin}))).credentials, ExecCredentials)
    both = load(write(a_kubeconfig(user={"exec": plugin, "token": SECRET})))
    assert not isinstance(both.credentials, ExecCredentials)


# What is broken is named, in one sentence.


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere"
    assert f"{path} cannot be read: No such file or directory" in refusal(path)


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    assert f"{tmp_path} cannot be read: Is a directory" in refusal(tmp_path)


def test_broken_yaml_is_named_with_its_place_and_without_its_text(write: Write) -> None:
    text = refusal(write(f"users:\n- token: {SECRET}\n  x: [\n"))
    assert "is not valid YAML" in text
    assert "line 4" in text
    assert SECRET not in text


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_bytes(b"\xff\xfe\x00\x01\x80")
    assert f"{path} is not valid YAML" in refusal(path)


def test_a_wrong_type_is_named_with_its_path(write: Write) -> None:
    text = refusal(write(a_kubeconfig(user={"token": ["a", SECRET]})))
    assert "Expected `str`, got `array` - at `$.users[0].user.token`" in text
    assert SECRET not in text


@pytest.mark.parametrize("content", ["- a\n- b\n", "just words", "7"])
def test_a_file_that_holds_something_else_is_refused(write: Write, content: str) -> None:
    assert "has a wrong entry: Expected `object`" in refusal(write(content))


def test_an_empty_file_has_no_context_to_choose(write: Write) -> None:
    assert "no context is chosen" in refusal(write(""))


def test_without_a_current_context_the_choices_are_shown(write: Write) -> None:
    text = refusal(write({**a_kubeconfig(), "current-context": ""}))
    assert "no context is chosen" in text
    assert "which has lab;" in text
    assert "--context" in text


def test_a_wrong_context_is_named_with_the_choices(write: Write) -> None:
    text = refusal(write(a_kubeconfig()), context="labb")
    assert 'there is no context "labb"' in text
    assert "which has lab;" in text


def test_a_long_list_of_choices_is_cut(write: Write) -> None:
    content = a_kubeconfig()
    content["contexts"] += [{"name": f"c{number:02}", "context": {}} for number in range(30)]
    assert "c09 and 21 more" in refusal(write(content), context="none")


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"cluster": "gone"}, 'names the cluster "gone"'),
        ({"cluster": ""}, "names no cluster"),
        ({"user": "gone"}, 'names the user "gone"'),
    ],
)
def test_a_context_that_names_what_is_not_there_is_refused(
    write: Write, context: dict[str, str], message: str
) -> None:
    text = refusal(write(a_kubeconfig(context=context)))
    assert 'context "lab"' in text
    assert message in text
    assert "correct the context" in text


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ({"server": ""}, "names no server"),
        ({"server": "ftp://lab"}, "is not of the form https://HOST:PORT"),
        ({"server": "https://"}, "is not of the form https://HOST:PORT"),
        ({"server": "https://lab:port"}, "is not of the form https://HOST:PORT"),
        ({"server": "https://lab:99999"}, "is not of the form https://HOST:PORT"),
        ({"server": "https://[::1"}, "is not of the form https://HOST:PORT"),
        ({"server": "https://a..b"}, "is not of the form https://HOST:PORT"),
        ({"server": f"https://ann:{SECRET}@lab"}, "holds a user or a password"),
        ({"server": "https://lab?x=y"}, "has a ? or # in it"),
        ({"tls-server-name": "a b"}, "is no name of a host"),
        ({"proxy-url": "socks5://proxy"}, "only HTTP proxies are supported"),
        (
            {"certificate-authority": "ca", "insecure-skip-tls-verify": True},
            "remove one of the two",
        ),
        ({"certificate-authority-data": "!!"}, "is not base64"),
    ],
)
def test_a_cluster_that_cannot_be_used_is_named(
    write: Write, cluster: dict[str, Any], message: str
) -> None:
    text = refusal(write(a_kubeconfig(cluster=cluster)))
    assert 'cluster "lab-cluster"' in text
    assert message in text
    assert SECRET not in text


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ({"client-certificate": "x"}, "has no client-key"),
        ({"client-key": "x"}, "has no client-certificate"),
        ({"client-key-data": "%%%", "client-certificate": "x"}, "is not base64"),
        ({"token": "x", "username": "ann"}, "a token and a password"),
        ({"auth-provider": {"name": "gcp"}}, 'auth-provider "gcp"'),
        ({"as-groups": ["ops"]}, "without a user"),
        ({"exec": {"command": "x", "apiVersion": "v1alpha1"}}, "has the apiVersion v1alpha1"),
        (
            {"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1"}},
            'has the interactiveMode ""',
        ),
    ],
)
def test_a_user_that_cannot_be_used_is_named(
    write: Write, user: dict[str, Any], message: str
) -> None:
    text = refusal(write(a_kubeconfig(user=user)))
    assert 'user "ann"' in text
    assert message in text


def test_an_impersonated_user_that_would_break_the_headers_is_refused(write: Write) -> None:
    for user in ({"as": "bob\r\nX-Evil: yes"}, {"as": "bob", "as-user-extra": {"a": ["\n"]}}):
        text = refusal(write(a_kubeconfig(user=user)))
        assert 'the impersonated user of context "lab"' in text
        assert "has control characters in it" in text


async def test_a_credential_file_that_is_missing_is_named_when_needed(
    write: Write, clock: Clock
) -> None:
    config = load(write(a_kubeconfig(user={"tokenFile": "nowhere"})))
    with pytest.raises(ConfigError, match=r"token of user \"ann\".*nowhere cannot be read"):
        await config.credentials.identity(clock)


leaf = st.none() | st.booleans() | st.integers() | st.just(SECRET) | st.text(max_size=5)
WORDS = """clusters users contexts current-context name cluster user context token exec command
    apiVersion server client-key-data tokenFile as"""
keys = st.sampled_from(WORDS.split())
anything = st.recursive(
    leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4)
)


@given(anything)
def test_whatever_a_kubeconfig_holds_it_is_used_or_refused_without_its_secrets(
    tmp_path_factory: pytest.TempPathFactory, content: Any
) -> None:
    path = tmp_path_factory.mktemp("any") / "config"
    path.write_text(yaml.safe_dump(content))
    try:
        assert load(path).server
    except ConfigError as error:
        named = str(error).replace(f'"{SECRET}"', "")  # as the name of a context, it may be shown
        assert SECRET not in named


@given(
    st.text(max_size=20) | st.from_regex(r"https?://[a-z0-9.:@\[\]%?#/ -]{0,12}", fullmatch=True)
)
def test_whatever_a_server_is_called_it_is_refused_or_can_be_asked(server: str) -> None:
    try:
        config = Config(server=server)
    except ConfigError:
        return
    transport = Transport(config, clock=SystemClock(), user_agent="x", limits=Limits())
    url = transport._url(Request(method="GET", path="/version"))
    assert url.host
    url.host.encode("idna")


# Which file, when nobody names one.


def test_kubeconfig_lists_files_and_home_has_the_default(tmp_path: Path) -> None:
    assert kubeconfig.default_paths({"KUBECONFIG": "/a::/b:"}) == ["/a", "/b"]
    assert kubeconfig.default_paths({"HOME": "/home/ann"}) == ["/home/ann/.kube/config"]


def test_files_of_kubeconfig_that_are_missing_are_passed_over(write: Write) -> None:
    path = write(a_kubeconfig())
    assert default_config.find({"KUBECONFIG": f"/nowhere:{path}"}).server == "https://lab:6443"


def test_a_named_file_must_be_there(write: Write, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere cannot be read"):
        default_config.find({"KUBECONFIG": str(write(a_kubeconfig()))}, path="/nowhere")


def test_without_any_configuration_the_ways_to_give_one_are_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no Kubernetes configuration.*KUBECONFIG"):
        default_config.find({"HOME": str(tmp_path)})
