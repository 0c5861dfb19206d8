"""What happens to objects after a verb has returned: dependants follow their owners, namespaces are
emptied and furnished, old events go.

    collector = Collector(registry, CollectorSettings(root_ca=pem))
    await collector.prepare()               # before the first request
    async with background(collector.run()): ...

One watch of the whole store feeds its parts, each of which is level-triggered: an event only says
where to look, and what lies in the store decides. So a restart, or a watch that was cut, loses nothing.

Where to read on: `collector.py` is the watch; `garbage.py` the garbage collector, with `traits.py` (what
it reads of an object), `graph.py` (who belongs to whom), `owners.py` (are the owners there) and
`deciding.py` (what follows from that, pure); `namespaces.py` and `conditions.py` empty namespaces;
`furnishing.py` puts into each what each has; `expiry.py` forgets events; `disruptions.py` counts budgets,
with `makers.py` (how many pods there should be) and `budgets.py` (the figures, pure). `queue.py` has the line
in which they all work, `controllers.py` who they are to everybody else, `telling.py` their events, and
`journal.py` how their deeds come into the audit log.
"""
