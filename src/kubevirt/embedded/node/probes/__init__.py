"""Probes: whether a container has started, lives and is ready.

schedule.py  when to ask, and what so many answers mean; pure
asking.py    how to ask: a command, HTTP, a connection; hooks ask in the same ways
prober.py    asks one try of a container for as long as it runs
"""
