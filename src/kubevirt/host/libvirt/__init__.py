"""libvirt: a private daemon for each launcher, and an asyncio face of its library.

`daemon` says how the daemon is started, `connection` calls it and hears its events, `hypervisor`
keeps a connection alive over the daemon's deaths, `domain` and `agent` are what one does with it.
"""
