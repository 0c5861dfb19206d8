"""What objects say, read the same way by every part of the home. Pure.

pods.py       pods
selecting.py  labels and fields against selectors
claims.py     claims on storage, and which volume each can have
"""
