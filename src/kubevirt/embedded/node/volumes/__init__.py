"""The volumes of pods, one file for each kind.

    volumes.py         all of them together, for the node: the place to begin reading
    mounting.py        what a container sees of them
    sub_path.py        a part of a volume, which nothing in the volume can lead elsewhere

    contents.py        files, as values; what objects are read from
    config_map.py      what a ConfigMap comes to
    secret.py          what a Secret comes to
    downward_api.py    what the pod may know of itself
    token.py           tokens of service accounts, and when they are renewed
    projected.py       several of these in one folder
    published.py       puts files in place, all of them at once
    things.py          which objects a pod needs
    following.py       watches these objects, or asks for them if there are too many (asked.py)
    token_requests.py  asks for tokens
    object_volumes.py  all this as volumes

    folders.py         where the volumes of a pod are, under a kubelet's names
    empty_dir.py       a folder of the pod's own
    usage.py           and whether it holds more than it may
    host_path.py       a path of the machine, if it is what it should be; places.py
    claims.py          a volume that outlives the pod
    ownership.py       for the group of the pod

Those that make contents are pure; a volume changes when its contents do, while containers look at it.
"""
