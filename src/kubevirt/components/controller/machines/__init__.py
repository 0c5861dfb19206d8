"""The controller of VirtualMachines: what `virt.machine` decides, carried out.

controller.py  who is looked at when, and what a look does
sighting.py    what a decision is made by, from the caches
carrying.py    actions: instances, copies of the spec, finalizers
copies.py      the copies, as a server spells them
status.py      what is told of the machine, written if it differs
"""
