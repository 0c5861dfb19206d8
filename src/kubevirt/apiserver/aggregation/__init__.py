"""Parts of the API that somebody else serves: APIServices, proxied as if they were our own.

    registration.py    an APIService, as decisions need it       registrations.py  all: who serves what
    priorities.py      which group comes before which            local.py          those of what we serve
    availability.py    what objects say about who is there       looking.py        and who answers
    attending.py       one who looks after each callee           asking.py         what it is asked
    description.py     what a callee says that it serves         descriptions.py   all of them
    directory.py       discovery and OpenAPI, here and elsewhere
    headers.py         what goes on with a request               forwarding.py     requests and answers
    websockets.py      both directions at once                   identity.py       how callees know us
    following.py       what lies in the store, as it changes     writing.py        what we write ourselves
    aggregation.py     everything put together for one server

Who asks is known, and whether they may, before a request comes here; whom it goes to decides once more.
A callee of the same process is reached over its private unix socket, through the same code. It believes
what is said there without a certificate, because nobody else can reach the socket (`callees/`).
"""
