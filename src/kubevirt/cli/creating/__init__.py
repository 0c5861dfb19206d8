"""Manifests from flags: data in, data out.

parameters.py   what `src:image:tag,bootorder:1` means
machine.py      the machine itself, its size, and where that is inferred from
volumes.py      container disks, claims, sysprep
imports.py      volumes that are filled before the guest starts
credentials.py  keys and passwords from secrets
cloud_init.py   what is written for cloud-init
draft.py        a machine while it is being put together
"""
