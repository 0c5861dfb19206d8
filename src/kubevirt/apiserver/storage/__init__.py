"""The store of the API server: keys and bytes under one global revision, never kinds.

    async with open_store(path, clock=SystemClock()) as store:          # storage.sqlite
        pod = await store.create("/pods/default/web", b"{}")
        pod = await store.update(pod, b'{"phase":"Running"}')           # Conflict if it has changed
        page = await store.list("/pods/", limit=500)
        with store.watch("/pods/", after=page.revision) as changes:
            async for events in changes: ...

Every change is a row of one log and gets the next revision. What is acknowledged is on disk; a read
sees all that was acknowledged before it; lists and watches can begin at any revision still kept.

Where to read on: `records.py` has the values, `store.py` the face that the API server sees,
`deciding.py` who wins, `watching.py` how changes reach watchers, `retention.py` how long the past is
kept. What keeps the log is behind the protocol in `log.py`: `sqlite/` on disk, `memory.py` for
simulations.
"""
