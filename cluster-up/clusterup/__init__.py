"""A real Kubernetes on one machine, for the test suites.

Two sizes. `light` is etcd, API server and controller-manager as ordinary processes of an ordinary
user, up in seconds, for tests that speak to the API. `cluster` is a whole Kubernetes with nodes
that run pods, each node in namespaces of its own, for tests that run virtual machines.

Both use the programs that `binaries` builds from Go modules and caches outside the checkout.
"""
