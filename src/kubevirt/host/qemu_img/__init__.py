"""Disk images through qemu-img, which runs under limits and is told what it may open.

    image = await admit("/images/disk.qcow2")              # look at it, refuse what reaches outside
    await create_overlay(path, image)                      # what a guest writes goes here
    await create_blank(path, 1 << 30)

An image comes from a registry, an upload or a guest that wrote it: it is hostile. What qcow2 can say
(read this host file as well, allocate that much) is never read here by code of ours; qemu-img reads
it, for seconds of CPU time and in little memory, without a shell and without a network name in
sight. `program.py` has the limits and the way an image is opened, `image.py` the gate, `disks.py`
what is made for a guest, `copying.py` and `checking.py` the rest.
"""
