"""Three machines that between them ask for what no other test of this folder asks for."""

import base64

from tests.e2e.nouns.test_disks import boot_sector
from tests.e2e.vms.objects import MEMORY, Object, a_claim, a_disk, a_vm, of_claim

DAY_S = 86400
UUID = "5d307ca9-b3ef-428c-8861-06e72d69f223"
MAC = "02:00:5e:10:00:07"
KERNEL = "quay.io/kubevirt/alpine-ext-kernel-boot-demo:devel"
ZONE = "Asia/Kolkata"
ANSWERS = "<unattend>for Windows</unattend>"
USER_DATA = "#cloud-config\nhostname: driven\n"
NETWORK_DATA = "version: 2\nethernets: {eth0: {addresses: [192.0.2.77/24]}}\n"
DHCP = {
    "bootFileName": "boot.efi",
    "tftpServerName": "tftp.example.com",
    "ntpServers": ["192.0.2.1", "192.0.2.2"],
    "privateOptions": [{"option": 240, "value": "of our own"}],
}
LEASED = {
    "bootfile": "boot.efi",
    "tftp": "tftp.example.com",
    "ntpsrv": "192.0.2.1 192.0.2.2",
    "opt240": b"of our own".hex(),
}
IN_BLOCK, IN_GROUND = "to the device", "this is ground"
FIRST = "the first disk was asked first"


def blank(mib: int) -> Object:
    return {"emptyDisk": {"capacity": f"{mib}Mi"}}


def beside() -> list[Object]:
    """What they name."""
    return [
        _an_object("ConfigMap", "answers", data={"autounattend.xml": ANSWERS}),
        _an_object("ConfigMap", "papers", data={"where": "on scsi"}),
        _an_object("Secret", "seed", stringData={"userdata": USER_DATA}),
        _an_object("Secret", "network", stringData={"networkdata": NETWORK_DATA}),
        _an_object(
            "Secret",
            "pull",
            type="kubernetes.io/dockerconfigjson",
            stringData={".dockerconfigjson": '{"auths": {}}'},
        ),
        a_claim("ground"),
        a_claim("first"),
        a_claim("both"),
        a_claim("block", volumeMode="Block"),
    ]


def _an_object(kind: str, name: str, **more: object) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **more}


def rich() -> Object:
    """Disks on every bus, and a device of every kind."""
    volumes = [
        a_disk("seed", {"cloudInitConfigDrive": {"secretRef": {"name": "seed"}}}),
        a_disk("answers", {"sysprep": {"configMap": {"name": "answers"}}}, cdrom={"bus": "sata"}),
        a_disk("papers", {"configMap": {"name": "papers"}}, cdrom={"bus": "scsi"}),
        a_disk("first", of_claim("first"), bootOrder=1),
        a_disk("on-sata", blank(9), disk={"bus": "sata"}, serial="ONSATA"),
        a_disk("on-scsi", blank(10), disk={"bus": "scsi"}, serial="ONSCSI"),
        a_disk("on-usb", blank(11), disk={"bus": "usb"}, serial="ONUSB"),
        a_disk("above", {"ephemeral": of_claim("ground")}, serial="ABOVE"),
        a_disk("block", of_claim("block"), serial="BLOCK"),
        a_disk("one", of_claim("both"), serial="ONE", shareable=True),
        a_disk("two", of_claim("both"), serial="TWO", shareable=True),
        *_as_it_likes_them(),
    ]
    devices = {
        "interfaces": [
            {"name": "default", "masquerade": {}, "macAddress": MAC, "dhcpOptions": DHCP}
        ],
        "networkInterfaceMultiqueue": True,
        "rng": {},
        "sound": {"name": "sound", "model": "ich9"},
        "watchdog": {"name": "watchdog", "i6300esb": {"action": "reset"}},
        "inputs": [
            {"name": f"pen-on-{bus}", "type": "tablet", "bus": bus} for bus in ("usb", "virtio")
        ],
        "video": {"type": "bochs"},
        "blockMultiQueue": True,
        "logSerialConsole": True,
    }
    domain = {
        "firmware": {"uuid": UUID, "serial": "machine-1"},
        "chassis": {"asset": "asset-1"},
        "cpu": {
            "sockets": 2,
            "cores": 1,
            "threads": 1,
            "model": "Nehalem",
            "features": [{"name": "aes"}, {"name": "popcnt", "policy": "disable"}],
        },
        "ioThreadsPolicy": "auto",
        "clock": {"utc": {"offsetSeconds": 10 * DAY_S}, "timer": {"hpet": {"present": False}}},
        "resources": {"requests": {"memory": "96M"}},
    }
    vm = a_vm(
        "rich",
        runStrategy="Always",
        guest={"devices": devices, "domain": domain},
        volumes=volumes,
    )
    spec = vm["spec"]["template"]["spec"]
    spec["domain"]["devices"]["disks"][0]["bootOrder"] = 2
    spec["volumes"][0]["containerDisk"]["imagePullSecret"] = "pull"
    return vm


def _as_it_likes_them() -> list[Object]:
    """Disks that say how they are to be served."""
    large = {"custom": {"logical": 4096, "physical": 8192}}
    return [
        a_disk("past", blank(12), serial="PAST", cache="none", io="native"),
        a_disk("through", blank(13), serial="THROUGH", cache="writethrough", io="threads"),
        a_disk("locked", blank(14), serial="LOCKED", disk={"bus": "virtio", "readonly": True}),
        a_disk("large", blank(16), serial="LARGE", blockSize=large),
        a_disk("own-thread", blank(17), serial="OWN", dedicatedIOThread=True),
    ]


def other() -> Object:
    """With an address that it is told by cloud-init, on an old card, and nothing that can be left out."""
    encoded = base64.b64encode(USER_DATA.encode()).decode()
    source = {"userDataBase64": encoded, "networkDataSecretRef": {"name": "network"}}
    card = {"name": "default", "bridge": {}, "model": "e1000"}
    guest = {
        "devices": {
            "interfaces": [card],
            "autoattachGraphicsDevice": False,
            "autoattachMemBalloon": False,
            "logSerialConsole": False,
            "useVirtioTransitional": True,
            "sound": {"name": "sound", "model": "ac97"},
            "watchdog": {"name": "watchdog", "i6300esb": {"action": "poweroff"}},
        },
        "domain": {
            "clock": {
                "timezone": ZONE,
                "timer": {"rtc": {"tickPolicy": "catchup", "track": "guest"}},
            },
            "cpu": {"cores": 1, "threads": 2, "model": "Westmere"},
            "resources": {"requests": {"memory": MEMORY}},
        },
    }
    seed = a_disk("seed", {"cloudInitNoCloud": source})
    return a_vm("other", runStrategy="Always", guest=guest, volumes=[seed])


def diskless() -> Object:
    """A kernel and its first file system, from an image; the processor that the node has."""
    container = {
        "image": KERNEL,
        "kernelPath": "/boot/vmlinuz-virt",
        "initrdPath": "/boot/initramfs-virt",
    }
    boot = {"kernelArgs": "console=ttyS0 said=by-the-manifest", "container": container}
    domain = {
        "cpu": {"model": "host-passthrough"},
        "firmware": {"kernelBoot": boot},
        "resources": {"requests": {"memory": "96Mi"}},
    }
    vm = a_vm("diskless", runStrategy="Always", guest={"domain": domain})
    spec = vm["spec"]["template"]["spec"]
    spec["domain"]["devices"]["disks"] = spec["volumes"] = []
    spec["domain"]["devices"]["interfaces"][0]["model"] = "rtl8139"
    return vm


def a_writer() -> Object:
    """A pod that leaves disks in two claims: text, and what boots the disk after it."""
    boots = base64.b64encode(boot_sector(FIRST)).decode()
    script = (
        f"(echo {IN_GROUND}; head -c {4 << 20} /dev/zero) >/ground/disk.img;"
        f"(echo {boots} | base64 -d; head -c {1 << 20} /dev/zero) >/first/disk.img;"
        "chmod 666 /*/disk.img"
    )
    claims = ("ground", "first")
    container = {
        "name": "main",
        "image": "kubevirt.io/built-in",
        "command": ["sh", "-c", script],
        "volumeMounts": [{"name": claim, "mountPath": f"/{claim}"} for claim in claims],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "writer"},
        "spec": {
            "restartPolicy": "Never",
            "containers": [container],
            "volumes": [{"name": claim, **of_claim(claim)} for claim in claims],
        },
    }
