"""Names on instances and their pods that decisions hang on."""

from typing import Final

FINALIZER: Final = "kubevirt.io/foregroundDeleteVirtualMachine"
"""Keeps an instance until nothing of it runs any more."""
MACHINE_FINALIZER: Final = "kubevirt.io/virtualMachineControllerFinalize"
"""Keeps a machine until its instance is gone, and an instance until its machine has noted how it
ended."""
NODE_LABEL: Final = "kubevirt.io/nodeName"
"""On an instance: the node whose virt-handler looks after it."""
UNPAUSED_GATE: Final = "kubevirt.io/virtual-machine-unpaused"
"""A pod's readiness gate, closed while its guest is paused."""
