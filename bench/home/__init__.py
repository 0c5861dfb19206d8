"""The embedded home against Kubernetes' own control plane, kubelet and containerd, on this machine."""
