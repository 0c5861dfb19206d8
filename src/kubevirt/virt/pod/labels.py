"""Labels of the pod: those of the instance, and by which others find it."""

from collections.abc import Mapping

from kubevirt.virt.hostname import hostname_of
from kubevirt.virt.pod import names
from kubevirt.virt.pod.launch import Launch


def labels(launch: Launch) -> Mapping[str, str]:
    """Ours go last: an instance cannot pass for another's pod."""
    return {
        **launch.vmi.metadata.labels,
        names.APP: names.LAUNCHER,
        names.CREATED_BY: launch.uid,
        names.VM_NAME: names.label("host name", hostname_of(launch.vmi)),
        names.INSTANCE_ID: names.label_value(launch.name),
    }
