"""What users ask of a machine or a guest, beyond changing its manifest: start, pause, console, …

calls.py    the table of all of them: their names, which are also those of the rights to them
power.py    start, stop, restart: what they change of a machine
guest.py    when a guest can be paused, reset, looked at
refusal.py  why not, in KubeVirt's words
"""
