"""virt-controller: makes instances of machines and pods of instances, and tells what becomes of them.

main.py         the program: flags, signals, the server for /metrics
settings.py     what can be set
controlling.py  one leader among many, and what it runs
caches.py       what is watched, and how much of it is kept
kept.py         the fields that are kept
fresh.py        a cache that knows what was just written, and takes no echo for news
failures.py     what went wrong for an object, until it goes well
telling.py      events
metrics.py      figures of machines and instances
transitions.py  figures of how long instances take from phase to phase
machines/       the controller of VirtualMachines
instances/      the controller of VirtualMachineInstances
nodes.py        the controller of nodes whose virt-handler is silent

Nothing is decided here: that is `virt.machine`, `virt.instance` and `virt.pod`. A reconcile reads the caches, asks for a
plan, and carries it out. docs/virt-controller.md tells the whole.
"""
