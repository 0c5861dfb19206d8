"""Shipped for tests: doubles that pass the contract of the real thing, and builders of objects."""
