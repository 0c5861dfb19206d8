"""Which proxy the environment asks for."""

from pathlib import Path

import pytest

from kubevirt.base.errors import ConfigError
from kubevirt.kube.access import incluster
from kubevirt.kube.access.proxies import proxy_for

PROXY = {"HTTPS_PROXY": "http://proxy:3128"}


def test_the_scheme_of_the_server_decides() -> None:
    assert proxy_for("https://lab:6443", PROXY) == "http://proxy:3128"
    assert proxy_for("http://lab:8080", PROXY) == ""
    assert proxy_for("https://lab", {"https_proxy": "proxy:3128"}) == "http://proxy:3128"
    assert proxy_for("https://lab", {}) == ""


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"])
def test_this_machine_is_asked_directly(host: str) -> None:
    assert proxy_for(f"https://{host}:6443", PROXY) == ""


@pytest.mark.parametrize(
    ("server", "no_proxy", "bypassed"),
    [
        ("https://lab.example.org", "example.org", True),
        ("https://lab.example.org", ".example.org", True),
        ("https://lab.example.org", "*.example.org", True),
        ("https://lab.example.org", "a, lab.example.org ,b", True),
        ("https://example.org", ".example.org", False),
        ("https://badexample.org", "example.org", False),
        ("https://lab:6443", "lab:6443", True),
        ("https://lab:6443", "lab:443", False),
        ("https://10.96.0.1:443", "10.96.0.0/12", True),
        ("https://10.96.0.1:443", "10.96.0.1", True),
        ("https://10.95.0.1:443", "10.96.0.0/12", False),
        ("https://10.96.0.1:443", "10.96.0.1:443", True),
        ("https://[fd00::1]:443", "fd00::/8", True),
        ("https://lab", "*", True),
        ("https://lab", "", False),
        ("https://lab", " , ,", False),
        ("https://LAB", "lab", True),
    ],
)
def test_no_proxy_names_hosts_domains_networks_and_ports(
    server: str, no_proxy: str, *, bypassed: bool
) -> None:
    found = proxy_for(server, {**PROXY, "NO_PROXY": no_proxy})
    assert found == ("" if bypassed else "http://proxy:3128")


def test_a_proxy_that_cannot_be_used_is_named_and_not_shown() -> None:
    with pytest.raises(ConfigError, match="variable HTTPS_PROXY is not of the form") as caught:
        proxy_for("https://lab", {"HTTPS_PROXY": "socks5://ann:s3cr3t@proxy"})
    assert "s3cr3t" not in str(caught.value)


def test_a_pod_reads_it_too(tmp_path: Path) -> None:
    for name in ("token", "ca.crt"):
        (tmp_path / name).write_text("x")
    env = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443", **PROXY}
    assert incluster.load(env, tmp_path).proxy_url == "http://proxy:3128"
    assert incluster.load({**env, "NO_PROXY": "10.96.0.0/12"}, tmp_path).proxy_url == ""
