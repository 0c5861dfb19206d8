"""Admission webhooks: programs elsewhere that may change or refuse what is written.

    keeping.py     follows the configurations in the store
    hooks.py       a configuration, compiled: whom to ask about what, and how
    matching.py    whether a write is any of a webhook's business
    conditions.py  its `matchConditions`, in CEL
    request.py     a write, as webhooks see it
    reviews.py     the AdmissionReview that goes out
    answers.py     the one that comes back
    calling.py     one question to one webhook, with all that can go wrong
    mutating.py    those who may change an object, one after the other, some of them twice
    webhooks.py    the whole: what `registry/admission.py` calls

The order, the wording of every refusal and the corners are Kubernetes'. How a webhook is reached is in
`callees/`. Not here: the `authorizer` of matchConditions, and AdmissionReview v1beta1.
"""
