"""A kernel and an initial file system from an image, without any disk."""

from collections.abc import Iterator

import pytest
from tests.e2e.nouns.guests import ALPINE, Guest, Spec, refusal, running
from tests.e2e.standalone.driver import Machine

pytestmark = pytest.mark.timeout(300)

IMAGE = "quay.io/kubevirt/alpine-ext-kernel-boot-demo:devel"


def spec(kernel: str = "/boot/vmlinuz-virt") -> Spec:
    container = {"image": IMAGE, "kernelPath": kernel, "initrdPath": "/boot/initramfs-virt"}
    boot = {"kernelArgs": "console=ttyS0 said=by-the-manifest", "container": container}
    return Spec(root=None, domain={"memory": {"guest": "96Mi"}, "firmware": {"kernelBoot": boot}})


@pytest.fixture(scope="module")
def guest(machine: Machine) -> Iterator[Guest]:
    with running(machine, spec(), account=ALPINE) as guest:
        yield guest


def test_a_guest_boots_from_a_kernel_in_an_image(guest: Guest) -> None:
    assert guest.run("uname -r").endswith("-kubevirt")
    assert guest.run("ls /sys/block | wc -l") == "0"


def test_its_kernel_has_the_arguments_of_the_manifest(guest: Guest) -> None:
    assert "said=by-the-manifest" in guest.read("/proc/cmdline").split()


def test_a_kernel_that_is_not_in_the_image_is_refused(machine: Machine) -> None:
    assert "/boot/other" in refusal(machine, spec("/boot/other"))
