"""Devices of a node, by kubelet's device plugin API: a plugin works here unchanged.

devices.py       what the node's pods ask: capacity, and devices for a container; the place to begin reading
registry.py      the socket where plugins come to register
wire.py          gRPC behind it, loaded when the first one comes
attendance.py    one plugin, from its coming to its going: which devices it has, and how they are
choosing.py      which devices a container gets: pure
ledger.py        who has which devices, remembered over restarts
fitting.py       what a plugin says of a container's devices, as its sandbox needs it
cdi.py           devices that are described by files of the machine
"""
