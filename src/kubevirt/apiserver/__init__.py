"""The Kubernetes API in one small process. It serves any CRD and knows nothing of VMs."""
