"""The Kubernetes kinds that we touch.

Fields that nobody here reads or writes (cloud volumes, Windows options) are left out: unknown
fields are skipped when an object is read, and nothing is ever written back whole.
"""
