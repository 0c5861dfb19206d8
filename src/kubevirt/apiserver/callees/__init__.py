"""Those who answer for the server: webhooks and aggregated APIs, wherever they are.

An object names a callee by a URL or by a Service, and the authority that signs its certificate
(`callee.py`). A Service is looked up in the store when a connection is made (`services.py`). A callee
of the same process is registered under the name of its Service and reached over a private unix socket;
whoever calls it cannot tell. `callees.py` keeps the connections, `words.py` says why there is none as
Go would, since people search for these words.
"""
