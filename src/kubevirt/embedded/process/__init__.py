"""The one process of an embedded home: all parts of a small Kubernetes on one loop.

settings.py      what a start is made of, chosen from the command line and what the home remembers
identities.py    certificates: everybody who asks the API server is somebody
cluster.py       the parts, started in order and stopped in the reverse one
guests.py        the project's own guests, where they were built
former_nodes.py  nodes that the home has no more
progress.py      what is told to whoever waits for a start
main.py          `python -m kubevirt.embedded`: signals, the log, the lock
daemon.py        starts that apart from a terminal, and waits until it is ready
stopping.py      ends it, or clears away what is left of one that died
kubeconfig.py    the administrator's file, and the context in the user's own
log_file.py      the log, cut in pieces
failures.py      one sentence for what went wrong
"""
