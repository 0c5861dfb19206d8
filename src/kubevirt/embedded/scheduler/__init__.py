"""Which node a pod runs on.

    demand.py       what a pod asks for
    wishes.py       what it says about where it wants to run
    tolerations.py  what it puts up with
    spreading.py    how evenly pods are spread over parts of the cluster
    neighbours.py   which pods are near a place
    storage.py      claims, the volumes they have or could have
    cluster.py      nodes with what runs on them, as decisions need it
    ledger.py       the same, kept up to date with what was just decided
    waiting.py      pods without a node, and which of them to look at
    fits.py         why a pod cannot run on a node, one function for each reason
    scores.py       which of several nodes is the better one
    decide.py       the decision, or Kubernetes' words for why there is none
    telling.py      the condition of a pod that fits nowhere
    binding.py      carries a decision out: volumes, node, word of it
    scheduler.py    reads, decides, has it carried out

All but the last two are pure.
"""
