"""The guest for tests and demos, built from Debian's packages: `python -m guestimage`.

Read `image.py` for how the parts come together and `docs/guest.md` for what the guest can do. What
runs inside the guest lies beside this package: `root/` (its files), `programs/` (its C) and `kernel/`.
"""
