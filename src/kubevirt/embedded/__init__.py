"""The embedded home: a Kubernetes for one machine, in one process, and pods that outlive it."""
