"""Which node a pod runs on.

    demand.py     what a pod asks for
    wishes.py     what it says about where it wants to run
    selecting.py  labels and fields against selectors
    cluster.py    nodes with what runs on them, as decisions need it
    fits.py       why a pod cannot run on a node, one function for each reason
    scores.py     which of several nodes is the better one
    decide.py     the decision, or Kubernetes' words for why there is none
    scheduler.py  reads, decides, binds, tells

All but the last are pure.
"""
