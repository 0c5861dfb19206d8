"""KubeVirt's own programs in a home: virt-api, virt-controller, and a virt-handler for each node.

They are the same as in a cluster and cannot tell the difference: each has a client under its own name, with the rights
that the installation gives to it, and follows the KubeVirt object.

start.py      how they come into a home that starts
place.py      what a home has for them
programs.py   all of them, virt-api first
kept.py       one that fails is started again, and does not end the others
standing.py   what a user sees of it: the status of the KubeVirt object
whereabouts.py  where they are found: virt-api, and the figures of each

As tasks of the home's process:

together.py   what each of them needs there
doors.py      a way to the virt-handler of a node that has a network of its own

As processes of their own (`virtctl up --separate`):

separate.py       what each of them is started with
command_lines.py  the words of it
kubeconfigs.py    who each of them is
child.py          a process that ends with the home's, and where its words go
asking.py         whether it is ready
former_leader.py  the lease of a virt-controller that was killed
sighted.py        which of them run, found by looking
"""
