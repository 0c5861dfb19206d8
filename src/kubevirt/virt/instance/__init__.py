"""The life of an instance: virt-controller's half (`life.py`) and virt-handler's (`guest.py`).

phases.py      where an instance is, and since when
seen.py        what virt-controller decides by
life.py        what it does next, and what it says of the instance
pods.py        how to read a launcher's pod
status.py      the fields of the status that follow from the pod
domain.py      what virt-handler decides by
guest.py       what it says of the instance
interfaces.py  the network cards as a user wants to see them
migratable.py  whether the guest could move
happenings.py  the events of both
"""
