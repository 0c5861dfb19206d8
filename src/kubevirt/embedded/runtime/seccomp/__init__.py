"""Which system calls a container may make.

    filters = Filters(node_root / "var/lib/kubelet/seccomp")
    await attempt.start(container, keeper, filters.get(profile, container.rights.capabilities))

`default.py` is what a container gets that says nothing: like the common runtimes', a list of what programs
need. `localhost.py` reads profiles that somebody put on the node. `filters.py` keeps what was made of them.
"""
