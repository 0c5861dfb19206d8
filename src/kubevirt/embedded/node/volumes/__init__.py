"""The volumes of pods, one file for each kind.

    contents.py      files, as values; what objects are read from
    config_map.py    what a ConfigMap comes to
    secret.py        what a Secret comes to
    downward_api.py  what the pod may know of itself
    token.py         tokens of service accounts, and when they are renewed
    projected.py     several of these in one folder
    published.py     puts files in place, all of them at once
    folders.py       where the volumes of a pod are, under a kubelet's names
    host_path.py     a path of the machine, if it is what it should be

Those that make contents are pure; a volume changes when its contents do, while containers look at it.
"""
