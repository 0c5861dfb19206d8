"""The kernel, nft and dnsmasq take what the plans say; each test in a network namespace of its own."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.unit.virt.pods import DUAL_STACK, ETH0, a_pod, the_plan

from kubevirt.virt.network.dnsmasq import config
from kubevirt.virt.network.plan import InterfacePlan, Transaction, undo

IS_ROOT = os.geteuid() == 0

needs_nft = pytest.mark.skipif(
    not (IS_ROOT and shutil.which("nft")), reason="needs root and nft: a network namespace is made"
)
needs_dnsmasq = pytest.mark.skipif(
    not shutil.which("dnsmasq"), reason="no dnsmasq: install dnsmasq-base"
)
needs_a_client = pytest.mark.skipif(
    not (IS_ROOT and shutil.which("ip") and shutil.which("busybox")),
    reason="needs root, iproute2 and busybox: a DHCP client asks the server",
)

OPTIONS = {
    "bootFileName": "boot/pxelinux.0, #1",
    "tftpServerName": 'a "quoted" \\ name',
    "ntpServers": ["192.0.2.1"],
    "privateOptions": [{"option": 240, "value": 'a,b="c"\n'}, {"option": 241, "value": "7"}],
}
BINDINGS: dict[str, dict[str, Any]] = {
    "masquerade": {"masquerade": {}, "macAddress": "02:00:00:00:00:01", "dhcpOptions": OPTIONS},
    "bridge": {"bridge": {}, "dhcpOptions": OPTIONS},
}


def in_a_namespace(script: str, folder: Path) -> str:
    """Runs a shell script where no link and no rule of the machine can be seen or touched."""
    command = ["unshare", "--net", "sh", "-eu", "-c", f"ip link set lo up; {script}"]
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=50, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def written(folder: Path, name: str, ruleset: Transaction | None) -> None:
    (folder / name).write_text(json.dumps(ruleset))


@needs_nft
@pytest.mark.parametrize("company", ["alone", "with a mesh"])
@pytest.mark.parametrize(
    "ports",
    [
        {},
        {"ports": [{"port": 80}, {"port": 53, "protocol": "UDP"}, {"port": 22}]},
        {"portRanges": [{"start": 8000, "end": 8100, "protocol": "TCP"}]},
    ],
)
def test_nft_takes_the_ruleset_twice_and_forgets_it_twice(
    tmp_path: Path, ports: dict[str, Any], company: str
) -> None:
    istio = company == "with a mesh"
    plan = the_plan({"masquerade": {}, **ports}, a_pod(DUAL_STACK, istio=istio))
    written(tmp_path, "do", plan.ruleset)
    written(tmp_path, "undo", undo(plan).ruleset)
    once = in_a_namespace("nft -j -f do; nft list ruleset", tmp_path)
    twice = in_a_namespace("nft -j -f do; nft -j -f do; nft list ruleset", tmp_path)
    assert once == twice
    assert "dnat to 10.0.2.2" in once
    assert "dnat to fd10:0:2::2" in once
    left = in_a_namespace(
        "nft -j -f do; nft -j -f undo; nft -j -f undo; nft list ruleset", tmp_path
    )
    assert "chain" not in left
    assert istio or not left


@needs_nft
def test_rules_of_others_survive_ours(tmp_path: Path) -> None:
    plan = the_plan({"masquerade": {}}, a_pod(istio=True))
    written(tmp_path, "do", plan.ruleset)
    written(tmp_path, "undo", undo(plan).ruleset)
    others = "nft add table ip nat; nft add chain ip nat ISTIO; nft add rule ip nat ISTIO counter;"
    left = in_a_namespace(f"{others} nft -j -f do; nft -j -f undo; nft list ruleset", tmp_path)
    assert left.split() == [
        "table",
        "ip",
        "nat",
        "{",
        "chain",
        "ISTIO",
        "{",
        "counter",
        "packets",
        "0",
        "bytes",
        "0",
        "}",
        "}",
    ]


@needs_dnsmasq
@pytest.mark.parametrize("binding", BINDINGS)
def test_dnsmasq_finds_no_fault_in_its_configuration(tmp_path: Path, binding: str) -> None:
    (tmp_path / "conf").write_text(config_of(the_plan(BINDINGS[binding], a_pod(DUAL_STACK))))
    command = ["dnsmasq", "--test", f"--conf-file={tmp_path}/conf"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert result.returncode == 0, result.stderr


CLIENT = """#!/bin/sh
[ "$1" = bound ] || exit 0
env
"""

# Both ends of the cable are in one namespace: the client speaks by a packet socket, past routing.
SERVE = """
ip link add k6t-eth0 type bridge
ip link set k6t-eth0 up
for address in {addresses}; do ip address add $address dev k6t-eth0; done
ip link add port type veth peer name guest
ip link set guest address {mac}
ip link set port master k6t-eth0 up
ip link set guest up
dnsmasq --keep-in-foreground --conf-file=$PWD/conf --pid-file= --user=root --log-facility=$PWD/log &
server=$!
busybox udhcpc -i guest -n -q -t 20 -T 1 -s ./client -O 26 -O 119 -O 121 -O 240 -O 241 || failed=1
kill $server
wait $server || true
exit ${{failed:-0}}
"""


def config_of(plan: InterfacePlan) -> str:
    assert plan.dhcp is not None
    return config(plan.dhcp)


def lease_of(folder: Path, plan: InterfacePlan) -> dict[str, str]:
    """What a DHCP client hears, by busybox' names."""
    assert plan.dhcp is not None
    (folder / "conf").write_text(config(plan.dhcp))
    (folder / "client").write_text(CLIENT)
    (folder / "client").chmod(0o755)
    addresses = " ".join(getattr(plan.links[0], "addresses", ()))
    output = in_a_namespace(SERVE.format(addresses=addresses, mac=plan.dhcp.mac), folder)
    return dict(line.split("=", 1) for line in output.splitlines() if "=" in line)


@needs_dnsmasq
@needs_a_client
def test_a_guest_behind_masquerade_hears_all_it_needs(tmp_path: Path) -> None:
    plan = the_plan(BINDINGS["masquerade"], a_pod(ETH0), subdomain="web")
    lease = lease_of(tmp_path, plan)
    domain = "web.default.svc.cluster.local"
    wanted = {
        "ip": "10.0.2.2",
        "subnet": "255.255.255.0",
        "router": "10.0.2.1",
        "serverid": "10.0.2.1",
        "dns": "10.96.0.10",
        "hostname": "testvm",
        "mtu": "1450",
        "lease": "86313600",
        "domain": domain,
        "search": f"{domain} default.svc.cluster.local svc.cluster.local cluster.local",
        "ntpsrv": "192.0.2.1",
        "boot_file": "boot/pxelinux.0, #1",
        "opt240": b'a,b="c"\n'.hex(),
        "opt241": b"7".hex(),
    }
    assert lease.get("boot_file", lease.get("bootfile")) == wanted.pop("boot_file")
    assert {key: lease.get(key) for key in wanted} == wanted


@needs_dnsmasq
@needs_a_client
def test_a_guest_on_a_bridge_gets_the_pods_address_and_routes(tmp_path: Path) -> None:
    lease = lease_of(tmp_path, the_plan(BINDINGS["bridge"], a_pod(ETH0)))
    assert lease["ip"] == "10.244.1.5"
    assert lease["subnet"] == "255.255.255.0"
    assert lease["router"] == "10.244.1.1"
    assert lease["serverid"] == "169.254.75.10"


@needs_dnsmasq
@needs_a_client
def test_a_stranger_gets_nothing(tmp_path: Path) -> None:
    plan = the_plan(BINDINGS["masquerade"], a_pod(ETH0))
    assert plan.dhcp is not None
    (tmp_path / "conf").write_text(config(plan.dhcp))
    (tmp_path / "client").write_text(CLIENT)
    (tmp_path / "client").chmod(0o755)
    script = SERVE.replace("-t 20", "-t 3").replace("|| failed=1", "&& failed=1 || true")
    addresses = "10.0.2.1/24"
    output = in_a_namespace(script.format(addresses=addresses, mac="02:00:00:00:00:99"), tmp_path)
    assert "ip=" not in output
