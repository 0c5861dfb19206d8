"""The node: what makes pods run here, and tells the API server how they are.

life.py           what to do next for a pod and how it is: pure, and the place to begin reading
seen.py           what that is decided from
actions.py        what can be done
backoff.py        how long to wait before another try
environment.py    the variables of a container; downward.py, expansion.py, service_links.py
probes/           whether a container has started, lives and is ready
volumes/          the volumes of pods, one file for each kind
"""
