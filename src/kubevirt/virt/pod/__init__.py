"""The launcher's pod: from a VirtualMachineInstance to the pod in which it runs."""
