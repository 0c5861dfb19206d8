"""The calls on machines and guests.

dispatch.py   which call is whose; each is made by somebody known who may
power.py      start, stop, restart
guest.py      calls that a node carries out: pause, reset, what the agent tells, pictures
streams.py    consoles and screens: a websocket of the user's and one of the node's, joined
ports.py      ports of guests: a websocket, joined to a TCP connection or to datagrams
joining.py    how two are joined
expansion.py  machines with all they refer to
objects.py    machines and instances, as they are now
"""
