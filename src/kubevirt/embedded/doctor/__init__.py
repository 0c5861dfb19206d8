"""Looks at this machine for what an embedded home needs, and says how to mend what is missing.

finding.py   what a check finds
machine.py   the user, the kernel and what it offers
programs.py  programs that the parts run
kubectl.py   which one of them users need
place.py     the folder, its disk, the port, the clock
health.py    the process, if one should run
needs.py     those checks that `virtctl up` makes before it starts
examining.py all of them, side by side
"""
