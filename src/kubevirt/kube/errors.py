"""What a Kubernetes server answers when it does not do what was asked.

    ApiError                       the server answered, with a Status
    ├── Refused (UserError)        asking again gives the same answer
    │   ├── BadRequest             400
    │   ├── Unauthorized           401
    │   ├── Forbidden              403
    │   ├── NotFound               404
    │   ├── MethodNotAllowed       405
    │   ├── NotAcceptable          406
    │   ├── Gone                   410, reason Gone
    │   ├── TooLarge               413
    │   ├── UnsupportedMediaType   415
    │   └── Invalid                422, with causes that name fields
    ├── Conflict (Retry)           409: another writer was first; read again
    │   ├── AlreadyExists          409 on create
    │   └── ApplyConflict          409 of a server-side apply; causes name the managers
    ├── Expired (Retry)            410: the resource version is too old; list again
    └── Overloaded (Retry)         the server cannot now; `after_s` says when it may
        ├── TooManyRequests        429
        ├── ServerTimeout          500 or 504 with that reason
        ├── ServiceUnavailable     503
        └── InternalError          500 and everything else from 500 up

`base.errors.Unreachable` means that there was no answer at all. `NotAnApi` is a server that answers
in another language: a login page, a proxy, somebody else's port.
"""
