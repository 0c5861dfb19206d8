"""Patches: JSON patch, merge patch, strategic merge patch. Data in, data out, nothing changed in place.

The meaning is that of the libraries that Kubernetes uses, corners included: what `replace` does to a
field that is not there, where nulls vanish, how merged lists are ordered. Server-side apply is
`apply`.
"""
