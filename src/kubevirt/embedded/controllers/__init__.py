"""What a cluster's controller manager does and users of VMs need, each controller in a folder of its own.

    endpoints/      who is behind a Service
    nodes/          nodes that fall silent, and the pods on them
    controlling.py  all of them, running

Budgets of disruption are counted where dependants and namespaces are seen to: `apiserver.collector`.
"""
