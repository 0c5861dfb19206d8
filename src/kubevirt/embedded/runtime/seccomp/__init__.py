"""Which system calls a container may make.

    filters = Filters(node_root / "var/lib/kubelet/seccomp")
    await attempt.start(container, keeper, filters.get(profile, container.rights.capabilities))

What a container gets that says nothing is in `host/runtime_default.py`. `localhost.py` reads profiles that somebody put on the
node. `filters.py` keeps what was made of them.
"""
