"""virt-probe against a real guest with an agent, as a kubelet runs it."""

import os
import shutil
import sys

import pytest
from tests.component.launcher.test_guest_and_agent import DOMAIN, booted
from tests.component.launcher.world import World

from guestimage import image
from kubevirt.base import commands
from kubevirt.base.commands import Completed

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes a container for each test"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap: install bubblewrap"),
    pytest.mark.skipif(not shutil.which("libvirtd"), reason="no libvirtd: install libvirt-daemon"),
    pytest.mark.timeout(180),
]


async def probed(world: World, *words: str) -> Completed:
    program = (sys.executable, "-m", "kubevirt.components.launcher.probe")
    asked = ("--domainName", DOMAIN, "--timeoutSeconds", "20", "--socket", str(world.socket))
    return await commands.run(*program, *asked, *words, timeout_s=60, check=False)


async def test_a_guest_answers_its_probes(guest_images: image.Images) -> None:
    async with booted(guest_images) as world:
        assert (await probed(world, "--guestAgentPing")).exit_code == 0
        well = await probed(world, "--command=/bin/sh", "--", "-c", "echo $(id -u) --help")
        assert (well.exit_code, well.stdout) == (0, b"0 --help\n")
        assert (await probed(world, "--command=/bin/sh", "--", "-c", "exit 7")).exit_code == 7
        missing = await probed(world, "--command=/no/such/program")
        assert missing.exit_code != 0
        assert missing.stderr.startswith(b"virt-probe: ")
