"""Probes: whether a container has started, lives and is ready.

schedule.py  when to ask, and what so many answers mean; pure
asking.py    how to ask: a command, HTTP, a connection; hooks ask in the same ways
http.py      HTTP as a kubelet speaks it, redirects and all
prober.py    asks one try of a container for as long as it runs
"""
