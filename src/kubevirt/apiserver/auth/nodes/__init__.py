"""A node's identity touches its own node and what its pods use, and nothing else.

A guest that breaks out of its sandbox holds the node's credentials: what they open is what it costs.

    graph.py        which node uses what, because a pod that runs there says so
    authorizer.py   which requests a node may make, told by the request alone
    restriction.py  which writes it may make, told by the object
"""
