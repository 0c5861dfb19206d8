"""Probes: whether a container has started, lives and is ready.

schedule.py  when to ask, and what so many answers mean; pure
"""
