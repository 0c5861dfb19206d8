"""No manifest can leave its place on a command line of the stand-alone mode: neither on that of the sandbox, nor on that of the
guest's DHCP server. What QEMU is told is held by tests/component/test_qemu_words.py.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.property.hostile import check_sentence, spoiled
from tests.property.test_domain_network import guests, plans_of, pods
from tests.unit.virt.domain_cases import SMALL_GUEST, merged
from tests.unit.virt.pods import DUAL_STACK, ETH0, a_pod, the_plan

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.components.launcher import launching
from kubevirt.components.launcher.settings import Settings
from kubevirt.components.launcher.standalone import manifest, mounts
from kubevirt.components.launcher.standalone.mounts import Mount
from kubevirt.components.launcher.standalone.sandbox import Sandbox, accounts, arguments
from kubevirt.host.libvirt.daemon import DaemonSettings
from kubevirt.host.net import dnsmasq
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.hostname import hostname_of
from kubevirt.virt.layout import Layout
from kubevirt.virt.network.plan import InterfacePlan

LAYOUT = Layout()
A_DISK = Path(__file__)
"""What is given for each claim; any file will do."""
BINDS = {LAYOUT.private: Path("/x/private"), LAYOUT.share: Path("/x/share")}
RICH: Any = merged(
    SMALL_GUEST,
    {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "spec": {
            "hostname": "web",
            "subdomain": "site",
            "volumes": [
                {"name": "root", "containerDisk": {"image": "disk:v1", "path": "/disk/a"}},
                {"name": "claim", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "block", "dataVolume": {"name": "blocks"}},
                {"name": "below", "ephemeral": {"persistentVolumeClaim": {"claimName": "base"}}},
                {
                    "name": "host",
                    "hostDisk": {"path": "/nowhere/a", "type": "DiskOrCreate", "capacity": "1Mi"},
                },
                {"name": "cloud", "cloudInitNoCloud": {"userData": "x"}},
            ],
            "domain": {
                "firmware": {
                    "kernelBoot": {"container": {"image": "kernel:v1", "kernelPath": "/vmlinuz"}}
                }
            },
        },
    },
)
ARITY = {
    **dict.fromkeys(("--die-with-parent", "--unshare-pid", "--as-pid-1", "--unshare-ipc"), 0),
    **dict.fromkeys(("--unshare-uts", "--unshare-cgroup-try", "--clearenv"), 0),
    **dict.fromkeys(("--json-status-fd", "--hostname", "--chdir", "--perms", "--tmpfs"), 1),
    **dict.fromkeys(("--proc", "--dev", "--dir", "--remount-ro", "--cap-drop", "--cap-add"), 1),
    **dict.fromkeys(("--setenv", "--ro-bind", "--ro-bind-try", "--bind", "--dev-bind"), 2),
    "--symlink": 2,
}
"""How many words bubblewrap takes behind each option; it knows no other way to read them."""


def sandbox_of(data: Any) -> Sandbox:
    """As the stand-alone mode makes it, but for images, which are looked for on the machine."""
    vmi = manifest.read(json.dumps(data), "vm.yaml").vmi
    claims = mounts.claims(vmi, dict.fromkeys(claims_in(vmi), A_DISK), LAYOUT)
    images = [
        Mount(source=A_DISK, target=LAYOUT.container_disk(index))
        for index, volume in enumerate(vmi.spec.volumes)
        if volume.container_disk
    ]
    boot = vmi.spec.domain.firmware.kernel_boot if vmi.spec.domain.firmware else None
    if boot and boot.container and boot.container.kernel_path:
        target = LAYOUT.kernel_boot(boot.container.kernel_path)
        images.append(Mount(source=A_DISK, target=target))
    return Sandbox(
        etc=Path("/x/etc"),
        binds=BINDS,
        mounts=(*images, *claims),
        hostname=hostname_of(vmi),
    )


def claims_in(vmi: VirtualMachineInstance) -> Iterator[str]:
    for volume in vmi.spec.volumes:
        if volume.persistent_volume_claim:
            yield volume.persistent_volume_claim.claim_name
        if volume.data_volume:
            yield volume.data_volume.name
        if volume.ephemeral and volume.ephemeral.persistent_volume_claim:
            yield volume.ephemeral.persistent_volume_claim.claim_name


def words_of(sandbox: Sandbox, data: Any) -> list[str]:
    metadata = data["metadata"]
    wanted = Settings(
        name=metadata["name"],
        namespace=metadata["namespace"],
        uid=metadata["uid"],
        libvirt=DaemonSettings(home="/var/run/libvirt", emulated=True),
    )
    return arguments(sandbox, *launching.command(wanted, 30))


def options_in(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of a sandbox's command line: its options as bubblewrap reads them, and the command to be run inside."""
    options, rest = [], list(words[1:])
    while rest[0] in ARITY:
        options.append(rest[0])
        del rest[: 1 + ARITY[rest[0]]]
    return options, rest


@given(spoiled(st.just(RICH)))
@settings(max_examples=300)
def test_a_sandbox_is_told_the_same_whatever_a_manifest_says(
    example: tuple[Any, tuple[str, ...]],
) -> None:
    data, _ = example
    try:
        sandbox = sandbox_of(data)
    except UserError as refusal:
        check_sentence(refusal)
        return
    words = words_of(sandbox, data)
    assert all("\0" not in word for word in words)
    options, command = options_in(words)
    end = options.index("--remount-ro")
    start = end - len(sandbox.mounts)
    assert set(options[start:end]) <= {"--bind", "--ro-bind"}, "one for each mount"
    bare = replace(sandbox_of(RICH), mounts=())
    assert (options[:start] + options[end:], command) == options_in(words_of(bare, RICH))
    for mount in sandbox.mounts:
        assert ".." not in PurePosixPath(mount.target).parts
        assert mount.target.startswith((LAYOUT.private, LAYOUT.container_disks))
    for text in accounts(sandbox.hostname).values():
        assert len(text.splitlines()) == text.count("\n") <= 3


def server_words(plan: InterfacePlan) -> list[str]:
    assert plan.dhcp is not None
    return dnsmasq.command(Namespace(9, "of the test"), plan.dhcp, 7, program="sh")


CLEAN = [server_words(the_plan({"masquerade": {}}, a_pod(link))) for link in (ETH0, DUAL_STACK)]
"""Without IPv6, and with it."""


@given(spoiled(guests), pods)
def test_a_dhcp_server_is_told_the_same_whatever_a_manifest_says(
    example: tuple[Any, tuple[str, ...]], pod: Any
) -> None:
    for plan in plans_of(example[0], pod):
        if plan.dhcp is not None:
            assert server_words(plan) in CLEAN
