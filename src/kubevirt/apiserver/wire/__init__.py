"""Bodies in protobuf: client-go's typed clients, kubectl's among them, send built-in kinds so.

    envelope.py    the bytes of a request → what kind it is, and its object
    reader.py      a message → the dict that the same object in JSON would have been
    special.py     messages that are no objects in JSON: times, quantities …
    messages.py    Google's decoder, told of one message at a time
    complaint.py   what Go says of bytes that Google's decoder does not take
    table.py       which numbers the fields have, from a table that was read off Kubernetes' sources

Only read, never written: whoever sends protobuf accepts JSON, and that is what we answer. Imported with
the first such body, since a server that nobody asks with kubectl needs none of it. Google's package takes
2.6 MB then, and 4.2 MB once messages of all built-in kinds have come.
"""

from typing import Final

MAGIC: Final = b"k8s\0"
"""With which such a body begins."""
