"""The node: what makes pods run here, and tells the API server how they are.

What it decides, pure:

life.py           what to do next for a pod and how it is: the place to begin reading
seen.py           what that is decided from
actions.py        what can be done
backoff.py        how long to wait before another try
environment.py    the variables of a container; downward.py, expansion.py, service_links.py
admission.py      whether a pod may come in
users.py          who a container runs as; accounts.py, whom its image knows
containers.py     a container as the runtime runs it; pod_files.py, what it finds in /etc
pod_status.py     what of a status is written, and what others wrote
node_status.py    the node's own object

What it does:

node.py           the whole; registration.py, lease.py: its own object; machine.py: what it is
pods.py           all pods; worker.py: one of them; pod_containers.py: its containers
memory.py         what is known of a pod; records.py: on disk; sighting.py: found again
launching.py      one try of a container; environment_sources.py, termination.py
surrounding.py    volumes and network of a pod, before and after; hooks.py
status_writer.py  writes a pod's status
neighbours.py     whom the node needs; parts.py: all of them together
standpoint.py     in which network it asks and looks

probes/           whether a container has started, lives and is ready
volumes/          the volumes of pods, one file for each kind
endpoint/         where logs and terminals are asked for
devices/          device plugins
"""
