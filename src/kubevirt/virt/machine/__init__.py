"""The life of a machine: when its guest runs, and what is told of it.

strategy.py    run strategies: whether to start, to stop, or to leave things as they are
requests.py    starts and stops that somebody asked for
backoff.py     starts that fail, and the pause before the next
seen.py        what decisions are made by
life.py        what is done next
noting.py      what must be noted of an instance before it may go
status.py      what is told of the machine
printable.py   the same in one word
conditions.py  and in several
template.py    the instance that a start creates
revision.py    the copy that is kept of what it was created from
happenings.py  events
"""
