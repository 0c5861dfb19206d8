"""Who is behind a Service: EndpointSlices, and the older Endpoints, from the pods that it selects.

objects.py      Services and pods, as much of them as is read here
behind.py       which pods are behind a Service, and how they are (pure)
slices.py       the EndpointSlices that should be there, and what to write (pure)
legacy.py       the Endpoints that should be there (pure)
controller.py   reads, decides, writes
"""
