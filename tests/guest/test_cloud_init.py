"""What a seed says comes true: NoCloud and ConfigDrive, in a booted guest."""

import base64
import gzip
import json
import shutil
from pathlib import Path

import pytest
from tests.guest import seeds
from tests.guest.machine import BOOT_LIMIT_S, Machine, cdrom, disk

from guestimage import guests, image

pytestmark = pytest.mark.timeout(400)

# `secret` as sha512-crypt.
HASH = "$6$saltsalt$TVLlQcbpFVof5W3Yz4DTP6gRstiNuHwwTt6GLc1E5n0U0aDehy0S5knV8wiOQSpT0Y77vwPZN.Pq.H91p5hVO1"

CLOUD_CONFIG = r"""#cloud-config
hostname: lighthouse
users:
  - default
  - name: keeper
    gecos: The Keeper
    groups: [lamps, sudo]
    lock_passwd: false
    plain_text_passwd: "two words: \"$HOME\""
    ssh_authorized_keys:
      - ssh-ed25519 AAAAkeeper keeper@shore
  - name: visitor
    passwd: HASH
    lock_passwd: false
  - name: ghost
    plain_text_passwd: nobody-may
password: new-password
chpasswd: {expire: false}
ssh_authorized_keys: ["ssh-ed25519 AAAAdefault someone"]
write_files:
  - path: /etc/lamp/plain
    permissions: '0640'
    owner: keeper:lamps
    content: |
      two lines, 'quoted'
      and $(not run)
  - {path: /etc/lamp/base64, encoding: b64, content: BASE64}
  - {path: /etc/lamp/gzip, encoding: gz+b64, content: GZIP}
  - path: /etc/lamp/binary
    content: !!binary BASE64
  - {path: /etc/hosts, append: true, content: "10.1.2.3 shore\n"}
bootcmd:
  - echo first >/run/bootcmd
runcmd:
  - cd /etc
  - pwd >/run/where
  - [sh, -c, 'echo "$1" >/run/words', sh, "it's one 'word' $HOME"]
  - "false"
  - echo the end >/run/last
packages: [nginx]
"""


def cloud_config() -> str:
    packed = base64.b64encode(gzip.compress(b"unpacked\n")).decode()
    plain = base64.b64encode(b"\0decoded\n").decode()
    return CLOUD_CONFIG.replace("HASH", HASH).replace("BASE64", plain).replace("GZIP", packed)


async def test_a_cloud_config_is_carried_out(images: image.Images, folder: Path) -> None:
    seed = seeds.nocloud(folder, user_data=cloud_config())
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed)) as machine:
        await machine.serial.expect(r"does not have: packages\n", BOOT_LIMIT_S)
        await machine.serial.expect("lighthouse login: ", BOOT_LIMIT_S)
        await machine.serial.send("\n")
        await machine.login(password="new-password")
        run = machine.run
        assert await run("hostname; ping -c1 -w2 lighthouse >/dev/null && echo resolves") == (
            "lighthouse\nresolves"
        )
        assert await run("sudo cat /etc/lamp/plain") == "two lines, 'quoted'\nand $(not run)"
        assert await run("stat -c '%a %U:%G' /etc/lamp/plain") == "640 keeper:lamps"
        assert await run("tr '\\0' 0 </etc/lamp/base64; tr '\\0' 0 </etc/lamp/binary") == (
            "0decoded\n0decoded"
        )
        assert await run("cat /etc/lamp/gzip") == "unpacked"
        assert "10.1.2.3 shore" in await run("cat /etc/hosts")
        assert await run("cat /run/bootcmd /run/where /run/words /run/last") == (
            "first\n/etc\nit's one 'word' $HOME\nthe end"
        )
        assert await run("cat .ssh/authorized_keys") == "ssh-ed25519 AAAAdefault someone"
        assert await run("sudo cat ~keeper/.ssh/authorized_keys") == (
            "ssh-ed25519 AAAAkeeper keeper@shore"
        )
        assert await run("sudo stat -c '%a %U' ~keeper/.ssh/authorized_keys") == "600 keeper"
        assert "sudo" in (await run("id -Gn keeper")).split()
        assert (await run("sudo grep ^visitor: /etc/shadow")).split(":")[1] == HASH
        assert (await run("sudo grep ^ghost: /etc/shadow")).split(":")[1].startswith("!$6$")


async def test_a_user_of_a_cloud_config_logs_in(images: image.Images, folder: Path) -> None:
    seed = seeds.nocloud(folder, user_data=cloud_config())
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed)) as machine:
        await machine.login("keeper", 'two words: "$HOME"')
        assert await machine.run("id -un; pwd") == "keeper\n/home/keeper"


async def test_chpasswd_takes_lists_texts_and_hashes(images: image.Images, folder: Path) -> None:
    seed = seeds.nocloud(
        folder,
        user_data=(
            "#cloud-config\nusers: [one, two, three]\nchpasswd:\n  expire: false\n  list: |\n"
            f"    one:{HASH}\n    two:plain:with:colons\n  users:\n"
            "    - {name: three, password: third, type: text}\n"
        ),
    )
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed)) as machine:
        for user, password in (
            ("one", "secret"),
            ("two", "plain:with:colons"),
            ("three", "third"),
        ):
            await machine.login(user, password)
            assert await machine.run("id -un") == user
            await machine.serial.send("exit\n")


@pytest.mark.parametrize("user_data", ["Hi.\n", b"\x00\xff\xfe binary"])
async def test_user_data_that_is_no_cloud_config_is_ignored_with_a_line(
    images: image.Images, folder: Path, user_data: str | bytes
) -> None:
    seed = seeds.nocloud(folder, user_data=user_data)
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed)) as machine:
        await machine.serial.expect("neither #cloud-config nor a script.*ignored", BOOT_LIMIT_S)
        await machine.login()


async def test_a_broken_cloud_config_is_ignored_and_says_where(
    images: image.Images, folder: Path
) -> None:
    seed = seeds.nocloud(folder, user_data="#cloud-config\nhostname: [unclosed\nusers: {\n")
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed)) as machine:
        await machine.serial.expect(r"user data of the seed is ignored: .*line \d", BOOT_LIMIT_S)
        await machine.login()


async def test_a_script_runs_once_for_an_instance(images: image.Images, folder: Path) -> None:
    own = folder / "own.img"
    shutil.copy(images.raw(guests.CIRROS), own)
    root = [word.removesuffix(",snapshot=on") for word in disk(own)]
    script = "#!/bin/bash\n\necho 'printed from cloud-init userdata'\necho x >>/root/runs\n"
    seed = seeds.nocloud(folder, user_data=script)
    async with Machine.start(folder, *root, *cdrom(seed)) as machine:
        await machine.serial.expect("printed from cloud-init userdata", BOOT_LIMIT_S)
        await machine.login()
        assert await machine.run("sudo cat /root/runs") == "x"
        await machine.serial.send("sudo reboot\n")
        await machine.event("RESET")
        await machine.login()
        assert await machine.run("sudo cat /root/runs") == "x"
        await machine.serial.send("sudo poweroff\n")
        await machine.ended()
    other = seeds.nocloud(folder, user_data=script, meta_data="instance-id: two\n")
    async with Machine.start(folder, *root, *cdrom(other)) as machine:
        await machine.login()
        assert await machine.run("sudo cat /root/runs") == "x\nx"


async def test_user_data_may_be_compressed(images: image.Images, folder: Path) -> None:
    seed = seeds.nocloud(folder, user_data=gzip.compress(b"#cloud-config\nhostname: unzipped\n"))
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed)) as machine:
        await machine.serial.expect("unzipped login: ", BOOT_LIMIT_S)


async def test_a_script_that_never_ends_does_not_keep_users_out(
    images: image.Images, folder: Path
) -> None:
    seed = seeds.nocloud(folder, user_data="#!/bin/sh\nsleep 100000\n")
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed)) as machine:
        await machine.login()


async def test_the_platform_gives_name_and_keys(images: image.Images, folder: Path) -> None:
    seed = seeds.nocloud(
        folder,
        user_data="#cloud-config\n{}\n",
        meta_data=json.dumps(
            {
                "instance-id": "a.b",
                "local-hostname": "vm-one",
                "public-keys": {
                    "0": "ssh-ed25519 AAAAone",
                    "1": {"openssh-key": "ssh-rsa AAAAtwo"},
                },
            }
        ),
    )
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed)) as machine:
        await machine.serial.expect("vm-one login: ", BOOT_LIMIT_S)
        await machine.serial.send("\n")
        await machine.login()
        assert sorted((await machine.run("grep . .ssh/authorized_keys")).splitlines()) == [
            "ssh-ed25519 AAAAone",
            "ssh-rsa AAAAtwo",
        ]


async def test_a_config_drive_says_the_same_in_other_words(
    images: image.Images, folder: Path
) -> None:
    seed = seeds.config_drive(
        folder,
        user_data="#cloud-config\nruncmd: [echo ran >/run/ran]\n",
        meta_data=json.dumps(
            {
                "instance_id": "x",
                "hostname": "from-drive",
                "public_keys": {"mine": "ssh-ed25519 AAAAdrive"},
            }
        ),
        network=json.dumps(
            {
                "links": [{"id": "l0", "type": "phy", "ethernet_mac_address": "52:54:00:AA:bb:01"}],
                "networks": [
                    {
                        "id": "n0",
                        "link": "l0",
                        "type": "ipv4",
                        "ip_address": "192.0.2.7",
                        "netmask": "255.255.255.192",
                        "routes": [
                            {"network": "0.0.0.0", "netmask": "0.0.0.0", "gateway": "192.0.2.1"}
                        ],
                    }
                ],
                "services": [{"type": "dns", "address": "192.0.2.53"}],
            }
        ),
    )
    root = disk(images.raw(guests.CIRROS))
    more = ["-netdev", "user,id=n", "-device", "virtio-net-pci,netdev=n,mac=52:54:00:aa:bb:01"]
    async with Machine.start(folder, *root, *cdrom(seed), more=more) as machine:
        await machine.serial.expect("from-drive login: ", BOOT_LIMIT_S)
        await machine.serial.send("\n")
        await machine.login()
        assert "192.0.2.7/26" in await machine.run("ip -4 address show eth0")
        assert "default via 192.0.2.1" in await machine.run("ip route")
        assert await machine.run("cat /etc/resolv.conf /run/ran") == "nameserver 192.0.2.53\nran"
        assert await machine.run("cat .ssh/authorized_keys") == "ssh-ed25519 AAAAdrive"


@pytest.mark.parametrize(
    "devices",
    [
        ["ide-cd,drive=seed,bus=ide.1"],
        ["virtio-scsi-pci,id=s", "scsi-cd,drive=seed,bus=s.0"],
        ["qemu-xhci", "usb-storage,drive=seed"],
        ["qemu-xhci", "usb-tablet", "usb-kbd", "usb-storage,drive=seed"],
    ],
    ids=["sata", "scsi", "usb", "usb-after-others"],
)
async def test_a_seed_on_any_bus_is_found(
    images: image.Images, folder: Path, devices: list[str]
) -> None:
    seed = seeds.nocloud(folder, user_data="#cloud-config\nhostname: found\n")
    words = ["-drive", f"if=none,id=seed,file={seed},format=raw,readonly=on"]
    for device in devices:
        words += ["-device", device]
    root = disk(images.raw(guests.CIRROS))
    # The name must come from the seed: a USB disk that came late was missed where the guest was quick.
    async with Machine.start(folder, *root, *words) as machine:
        await machine.serial.expect("found login: ", BOOT_LIMIT_S)


async def test_a_usb_bus_without_a_seed_holds_nobody_up_for_long(
    images: image.Images, folder: Path
) -> None:
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, "-device", "qemu-xhci") as machine:
        await machine.serial.expect("cirros login: ", BOOT_LIMIT_S)


async def test_a_seed_may_be_a_fat_file_system(images: image.Images, folder: Path) -> None:
    seed = seeds.fat(folder, user_data="#cloud-config\nhostname: from-fat\n")
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed)) as machine:
        await machine.serial.expect("from-fat login: ", BOOT_LIMIT_S)
