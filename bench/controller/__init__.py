"""virt-controller with thousands of machines on nodes that only play: how fast, how much CPU, how much memory."""
