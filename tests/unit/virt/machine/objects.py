"""Machines, and the container in which a guest runs."""

from typing import Any

import msgspec

from kubevirt.api.core.pod import ContainerState, ContainerStateTerminated, ContainerStatus
from kubevirt.api.machine import VirtualMachine
from kubevirt.virt.instance import names

TEMPLATE: dict[str, Any] = {"spec": {"domain": {"devices": {}, "features": {"acpi": {}}}}}


def a_machine(**spec: Any) -> VirtualMachine:
    metadata = {
        "name": "testvm",
        "namespace": "home",
        "uid": "vm-1",
        "generation": 1,
        "resourceVersion": "1",
        "finalizers": [names.MACHINE_FINALIZER],
    }
    return msgspec.convert(
        {"metadata": metadata, "spec": {"template": TEMPLATE, **spec}}, VirtualMachine
    )


def a_compute(ended: ContainerStateTerminated | None = None) -> ContainerStatus:
    return ContainerStatus(
        name="compute",
        image="launcher",
        image_id="x",
        ready=ended is None,
        restart_count=0,
        state=ContainerState(terminated=ended),
    )
