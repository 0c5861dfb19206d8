"""The controller of VirtualMachineInstances: what `virt.instance` decides, carried out.

controller.py  who is looked at when, and what a look does
sighting.py    what a decision is made by, from the caches
carrying.py    actions: the launcher's pod
status.py      what is told of the instance, written if it differs
"""
