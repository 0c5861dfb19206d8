"""Validation: why an object is refused, field by field, in KubeVirt's words."""
