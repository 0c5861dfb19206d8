"""virt-launcher: one VirtualMachineInstance as a process."""
