"""virt-api: what users reach of KubeVirt beyond the objects themselves. docs/virt-api.md tells the story.

running.py      the whole of it as one context: the place to begin reading
serving.py      its doors: a TLS port, a private unix socket
front.py        which request goes where, and what a refusal looks like
path.py         what a path asks for
identity.py     who asks: the front proxy says it, if it is the front proxy
permission.py   whether they may: a SubjectAccessReview for each call
bodies.py, answers.py
discovery.py, open_api.py, description.py   what is served, told to the API server
admission/      objects on their way into the server: filled in, then judged
subresources/   start, stop, console, …
node_handlers.py  how the virt-handlers of nodes are found and asked
tunnels.py, keepalive.py   open connections: how many, and whether anybody is there
parts.py        what all of these are given
main.py         the program; front_proxy.py follows who the front proxy is
"""
