"""Events of an instance, in KubeVirt's words."""

from typing import Final

from msgspec.structs import replace

from kubevirt.virt import nodes
from kubevirt.virt.happening import Happening

DEFINED: Final = Happening("Created", "VirtualMachineInstance defined.")
STARTED: Final = Happening("Started", "VirtualMachineInstance started.")
ASKED_TO_SHUT_DOWN: Final = Happening("ShuttingDown", "Signaled Graceful Shutdown")
DELETED: Final = Happening("Deleted", "Signaled Deletion")
PAUSED: Final = Happening("Paused", "VirtualMachineInstance paused")
UNPAUSED: Final = Happening("Unpaused", "VirtualMachineInstance unpaused")
RESET: Final = Happening("Reset", "VirtualMachineInstance reset")
SOFT_REBOOTED: Final = Happening("SoftRebooted", "VirtualMachineInstance soft rebooted")
SHUT_DOWN: Final = Happening("Stopped", "The VirtualMachineInstance was shut down.")
CRASHED: Final = Happening("Stopped", "The VirtualMachineInstance crashed.", is_warning=True)


def crashed(cause: str) -> Happening:
    """With the cause in a sentence of its own, after KubeVirt's, if it is known."""
    if not cause:
        return CRASHED
    return replace(CRASHED, message=f"{CRASHED.message} {cause[0].upper()}{cause[1:]}.")


def pod_created(name: str) -> Happening:
    return Happening("SuccessfulCreate", f"Created virtual machine pod {name}")


def pod_not_created(why: str) -> Happening:
    return Happening("FailedCreate", f"Error creating pod: {why}", is_warning=True)


def pod_too_privileged(why: str) -> Happening:
    return Happening("FailedCreate", f"failed to render launch manifest: {why}", is_warning=True)


def pod_deleted(name: str) -> Happening:
    return Happening("SuccessfulDelete", f"Deleted virtual machine pod {name}")


def pod_not_deleted(name: str, why: str) -> Happening:
    return Happening(
        "FailedDelete", f"Failed to delete virtual machine pod {name}: {why}", is_warning=True
    )


def handed_over(node: str) -> Happening:
    return Happening("SuccessfulHandOver", f"Pod ownership transferred to the node {node}")


def node_unresponsive(node: str) -> Happening:
    text = f"virt-handler on node {node} is not responsive, marking VMI as failed"
    return Happening(nodes.UNRESPONSIVE, text, is_warning=True)


def pod_lost(message: str) -> Happening:
    return Happening("Stopped", message, is_warning=True)
