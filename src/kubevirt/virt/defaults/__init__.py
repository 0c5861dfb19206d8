"""Defaults: what a spec means where it says nothing. Admission writes them into the object."""
