"""The node's endpoint: what the API server asks a node for its users, as it asks any kubelet.

endpoint.py     the port, its certificate and who may come: the place to begin reading
access.py       who may come
front.py        which request goes where; refusals.py
finding.py      how the endpoint finds containers: the port to the node's pods
choosing.py     which try of a container a request is about, in a kubelet's words
log_queries.py  what is wanted of a log
sessions.py     a websocket, and a command or a container at its other end
channels.py     the numbered channels of that websocket
outcomes.py     how a command ended, as a client is told
"""
