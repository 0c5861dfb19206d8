"""The embedded API server measured against Kubernetes' own: the third part of `make bench`."""
