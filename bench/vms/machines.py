"""The machines of the bench: our own guest behind a masquerade, with a disk of an image and cloud-init."""

from typing import Any

Object = dict[str, Any]
IMAGE = "kubevirt/cirros-container-disk-demo"
WITHOUT_AGENT = "kubevirt/alpine-container-disk-demo"
SWITCHES_ITSELF_OFF = "#!/bin/sh\npoweroff\n"


def instance(name: str, *, memory: str = "64Mi", **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {**_guest("#cloud-config\n", memory), **spec}}


def switched_off(name: str) -> Object:
    """A machine whose guest switches itself off as soon as it has booted."""
    return {
        "metadata": {"name": name},
        "spec": {
            "runStrategy": "RerunOnFailure",
            "template": {"metadata": {}, "spec": _guest(SWITCHES_ITSELF_OFF, "64Mi")},
        },
    }


def machine(name: str, image: str = IMAGE) -> Object:
    return {
        "metadata": {"name": name},
        "spec": {
            "runStrategy": "Always",
            "template": {"metadata": {}, "spec": _guest("#cloud-config\n", "64Mi", image)},
        },
    }


def _guest(user_data: str, memory: str, image: str = IMAGE) -> Object:
    disks = ("root", "seed")
    return {
        "terminationGracePeriodSeconds": 0,
        "networks": [{"name": "default", "pod": {}}],
        "volumes": [
            {"name": "root", "containerDisk": {"image": image}},
            {"name": "seed", "cloudInitNoCloud": {"userData": user_data}},
        ],
        "domain": {
            "memory": {"guest": memory},
            # A tenth of a core each, the default, would let twenty of them in.
            "resources": {"requests": {"cpu": "10m"}},
            "devices": {
                "disks": [{"name": name, "disk": {"bus": "virtio"}} for name in disks],
                "interfaces": [{"name": "default", "masquerade": {}}],
            },
        },
    }
