"""Who asks, and may they: the doors that every request passes before anybody looks at its body.

    authority.py       the server's own certificate authorities        folder.py   where they are kept
    certificates.py    a client certificate is somebody                tokens.py   a service account's token
    front_proxy.py     a proxy that we trust says who it is            impersonation.py  to act as another
    authentication.py  all of these in Kubernetes' order: credentials → Identity, or 401
    rbac/              roles and bindings, compiled; escalation; the roles that every cluster has
    nodes/             what a node may touch: its own things and what its pods use
    authorization.py   both together: `authorize(asked, identity)` → Decision
    reviews.py         the same answers as objects                      token_requests.py  tokens on request
    admission.py       the checks that need to see the object that is written
    audit.py           what is written down about a request             audit_log.py  and where
    keeping.py         keeps all this current with the store            answering.py  its endpoints
    access.py          everything put together for one server           tls.py     the server's side of TLS

Decisions are pure: they take what they need to know, the time included, and give a value. The few shells
(folder, audit log, keeping) do nothing else than reading and writing. `http/doors.py` is the way in.
"""
