"""Speak to any Kubernetes API: clients, caches, controllers. Knows no VM."""
