"""Control groups: what the processes of one guest may use together, what they use, and their end.

    cgroups = detect()
    group = cgroups.create("kubevirt", "launcher-1234", CgroupLimits(memory_bytes=1 << 30))
    group.add(pid)
    group.usage().memory_bytes
    await group.kill(clock)
    group.remove()

Linux has two kinds, and machines have either: v2 is one tree (`v2.py`), v1 a tree for each controller
(`v1.py`). `detection.py` finds out which; from there on nobody needs to know.
"""
