"""What becomes of nodes that fall silent, and of the pods on them.

    health.py     which conditions of a node nobody knows any more
    taints.py     which taints its conditions give a node
    patience.py   how long a pod stays on a tainted node
    bound.py      pods, as far as these controllers look at them
    lifecycle.py  hears from nodes, or does not, and says so
    evictions.py  pods leave nodes that they do not tolerate
    orphans.py    pods of nodes that are gone

The first three are pure.
"""
