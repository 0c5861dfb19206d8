"""Names of Services: what there is to know (`records.py`), how dnsmasq is told (`config.py`), and the one
that serves it (`server.py`).
"""
