"""Devices that guests need, offered to the node by kubelet's device plugin API."""
