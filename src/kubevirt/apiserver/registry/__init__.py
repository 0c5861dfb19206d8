"""The verbs: what it means to create, read, change, watch and delete an object of any kind.

A request that came through the doors of `http/` is a `Call` (`call.py`): who asks for what, and how.
The verbs give results (`results.py`), which `http/` writes down in the form that the client asked for.

    reading.py    get, list              watching.py   watch
    creating.py   create                 changing.py   update, and what patches share with it
    patching.py   patch, apply           deleting.py   delete, deletecollection
    scaling.py    the scale of a custom resource
    answering.py  endpoints that are no objects: reviews, bindings

Every write takes the same steps in the same order, most of them pure: read what was sent
(`shapes.py`), default, who owns which field (`apply/`), admission (`admission.py`), what the server
alone decides (`preparing.py` and, kind by kind, `rules/`), validate, store.
"""
