"""The types: KubeVirt's kinds, the Kubernetes kinds we touch, their names. Data only, no behaviour."""
