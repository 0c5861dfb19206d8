"""KubeVirt's own programs as tasks of a home's process: virt-api, virt-controller, and a virt-handler for each node.

They are the same as in a cluster and cannot tell the difference: each has a client under its own name, with the rights
that the installation gives to it, and follows the KubeVirt object.

start.py      how they come into a home that starts
place.py      what a home has for them
programs.py   what each of them needs here
doors.py      a way to the virt-handler of a node that has a network of its own
kept.py       one that fails is started again, and does not end the others
standing.py   what a user sees of it: the status of the KubeVirt object
"""
