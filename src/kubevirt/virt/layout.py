"""Where a launcher keeps things: every path that the domain, the plans and the host side share.

The folders are settings, because a test, a sandbox and a pod have different ones; what lies where
below them is fixed. Names from the manifest pass the gate in `names.py` before they enter a path.
"""

from pathlib import PurePosixPath

import msgspec

from kubevirt.virt.names import file_name


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The folders of one launcher, as it sees them itself."""

    private: str = "/var/run/kubevirt-private"
    """Sockets, mounted claims, mounted ConfigMaps and Secrets, the images made of them."""
    share: str = "/var/run/kubevirt"
    """Shared with virt-handler."""
    ephemeral: str = "/var/run/kubevirt-ephemeral-disks"
    """Overlays and scratch disks: gone with the pod."""
    container_disks: str = "/var/run/kubevirt/container-disks"
    """Images of container disks, kept reachable by a helper for each."""
    image_volumes: str = "/var/run/kubevirt-image-volume"
    """Whole images of container disks, where the node mounts them and no helper is needed."""
    kernel_image: str = "/var/run/kubevirt-kernel-boot"
    """The whole image of a kernel, likewise."""
    devices: str = "/dev"
    """Block devices of claims in block mode."""
    service_account: str = "/var/run/secrets/kubernetes.io/serviceaccount"
    """Where Kubernetes mounts the token."""

    # Sockets and logs of one guest.

    def instance(self, uid: str) -> str:
        return _join(self.private, file_name("uid", uid))

    def vnc_socket(self, uid: str) -> str:
        return _join(self.instance(uid), "virt-vnc")

    def serial_socket(self, uid: str, port: int = 0) -> str:
        return _join(self.instance(uid), f"virt-serial{port}")

    def serial_log(self, uid: str, port: int = 0) -> str:
        return f"{self.serial_socket(uid, port)}-log"

    def usb_socket(self, uid: str, slot: int) -> str:
        return _join(self.instance(uid), f"virt-usbredir-{slot}")

    @property
    def downward_metrics_socket(self) -> str:
        return _join(self.private, "downwardmetrics-channel", "downwardmetrics.sock")

    @property
    def reservation_socket(self) -> str:
        """Of the helper that may issue SCSI reservations; one on each node."""
        return _join(self.share, "daemons", "pr", "pr-helper.sock")

    @property
    def interface_facts(self) -> str:
        """How the network cards are connected, by the privileged side, for the domain to name them."""
        return _join(self.share, "interfaces.json")

    @property
    def notify_socket(self) -> str:
        """Of virt-handler, who hears there how the guest is."""
        return _join(self.share, "domain-notify-pipe.sock")

    @property
    def command_socket(self) -> str:
        """Of the launcher, for virt-handler; it appears when the launcher is ready."""
        return _join(self.share, "sockets", "launcher-sock")

    @property
    def unready_command_socket(self) -> str:
        return _join(self.share, "sockets", "launcher-init-sock")

    def virtiofs_socket(self, volume: str) -> str:
        return _join(self.share, "virtiofs-containers", f"{_volume(volume)}.sock")

    def nvram(self, name: str) -> str:
        """The variables of a guest's EFI firmware."""
        return _join(self.private, "libvirt", "qemu", "nvram", f"{_instance(name)}_VARS.fd")

    # Disks.

    def claim_file(self, volume: str) -> str:
        return _join(self.private, "vmi-disks", _volume(volume), "disk.img")

    def claim_device(self, volume: str) -> str:
        return _join(self.devices, _volume(volume))

    def hotplugged_file(self, volume: str) -> str:
        return _join(self.share, "hotplug-disks", f"{_volume(volume)}.img")

    def hotplugged_device(self, volume: str) -> str:
        return _join(self.share, "hotplug-disks", _volume(volume))

    def host_disk(self, volume: str, path: str) -> str:
        """The folder of the host path is mounted; the file keeps its name in it."""
        name = file_name("host disk", PurePosixPath(path).name)
        return _join(self.private, "vmi-disks", _volume(volume), name)

    def container_disk(self, index: int) -> str:
        """The image inside a container disk, by the volume's place in the list."""
        return _join(self.container_disks, f"disk_{index}.img")

    def image_volume(self, index: int) -> str:
        """The whole image of a container disk, by the volume's place in the list."""
        return _join(self.image_volumes, f"disk_{index}")

    def kernel_boot(self, path: str) -> str:
        name = file_name("kernel boot file", PurePosixPath(path).name)
        return _join(self.container_disks, "kernel-boot", name)

    def overlay(self, volume: str) -> str:
        return _join(self.ephemeral, "disk-data", _volume(volume), "disk.qcow2")

    def empty_disk(self, volume: str) -> str:
        return _join(self.ephemeral, "empty-disks", f"{_volume(volume)}.qcow2")

    def cloud_init_iso(self, namespace: str, name: str, file: str) -> str:
        folder = (file_name("namespace", namespace), _instance(name))
        return _join(self.ephemeral, "cloud-init-data", *folder, file)

    def config_iso(self, folder: str, volume: str) -> str:
        return _join(self.private, folder, f"{_volume(volume)}.iso")

    @property
    def service_account_iso(self) -> str:
        return _join(self.private, "service-account-disk", "service-account.iso")

    @property
    def downward_metrics_disk(self) -> str:
        return _join(self.private, "downwardapi-disks", "vhostmd0")

    # What Kubernetes mounts into the pod for an image to be made of it.

    def config_map(self, volume: str) -> str:
        return _join(self.private, "config-map", _volume(volume))

    def secret(self, volume: str) -> str:
        return _join(self.private, "secret", _volume(volume))

    def network_data(self, volume: str) -> str:
        """Of cloud-init, where it is in another Secret than the user data."""
        return _join(self.private, "network-data", _volume(volume))

    def downward_api(self, volume: str) -> str:
        return _join(self.private, "downwardapi", _volume(volume))

    def sysprep(self, volume: str) -> str:
        return _join(self.private, "sysprep", _volume(volume))

    def access_credential(self, secret: str) -> str:
        return _join(self.private, "secret", f"{file_name('secret', secret)}-access-cred")


def _join(folder: str, *names: str) -> str:
    return "/".join((folder.rstrip("/"), *names))


def _volume(name: str) -> str:
    return file_name("volume", name)


def _instance(name: str) -> str:
    return file_name("instance", name)
