"""Objects as virt-api would have let them in: small, whole, and ready for the controllers.

    vm = a_machine("web", runStrategy="Always")
    vmi = an_instance("web", terminationGracePeriodSeconds=0)

Where no virt-api stands before the server, what it would write has to come with the object.
"""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.core.storage import PersistentVolumeClaim
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.virt.defaults.admitted import new_instance
from kubevirt.virt.defaults.identity import Identity, with_identity
from kubevirt.virt.defaults.platform import with_machine
from kubevirt.virt.defaults.settings import Settings, architecture_for
from kubevirt.virt.instance.names import MACHINE_FINALIZER

IMAGE: Final = "kubevirt/cirros-container-disk-demo"

GUEST: Final[Mapping[str, Any]] = {
    "domain": {
        "devices": {
            "disks": [{"name": "root", "disk": {"bus": "virtio"}}],
            "interfaces": [{"name": "default", "masquerade": {}}],
        },
        "features": {"acpi": {}},
        "memory": {"guest": "64Mi"},
    },
    "networks": [{"name": "default", "pod": {}}],
    "volumes": [{"name": "root", "containerDisk": {"image": IMAGE}}],
}
"""A small guest with a disk and a network card."""


def a_machine(
    name: str = "testvm",
    namespace: str = "default",
    *,
    guest: Mapping[str, Any] | None = None,
    configuration: KubeVirtConfiguration | None = None,
    **spec: Any,
) -> VirtualMachine:
    """`guest` says what differs from `GUEST`; `spec` is the machine's own, such as `runStrategy`."""
    template = {"spec": {**GUEST, **(guest or {})}}
    manifest = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": template, **spec},
    }
    return admitted_machine(
        msgspec.convert(manifest, VirtualMachine), configuration or KubeVirtConfiguration()
    )


def an_instance(
    name: str = "testvm",
    namespace: str = "default",
    *,
    configuration: KubeVirtConfiguration | None = None,
    **guest: Any,
) -> VirtualMachineInstance:
    manifest = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {**GUEST, **guest},
    }
    return new_instance(
        msgspec.convert(manifest, VirtualMachineInstance),
        configuration or KubeVirtConfiguration(),
        datetime.now(UTC).replace(microsecond=0),
    )


def a_claim(
    name: str, namespace: str = "default", *, size: str = "64Mi", mode: str = "Filesystem"
) -> PersistentVolumeClaim:
    manifest = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": mode,
            "resources": {"requests": {"storage": size}},
        },
    }
    return msgspec.convert(manifest, PersistentVolumeClaim)


def admitted_machine(vm: VirtualMachine, configuration: KubeVirtConfiguration) -> VirtualMachine:
    """With its finalizer, and with the board and the identity that its guest has for good."""
    template = vm.spec.template
    if template.spec is not None:
        settings = Settings(configuration=configuration)
        architecture = architecture_for(template.spec.architecture, settings)
        drawn = Identity(uuid=str(uuid.uuid4()), serial=str(uuid.uuid4()))
        spec = with_machine(template.spec, settings, architecture)
        template = replace(template, spec=with_identity(spec, drawn))
    finalizers = dict.fromkeys((*vm.metadata.finalizers, MACHINE_FINALIZER))
    return replace(
        vm,
        metadata=replace(vm.metadata, finalizers=tuple(finalizers)),
        spec=replace(vm.spec, template=template),
    )
