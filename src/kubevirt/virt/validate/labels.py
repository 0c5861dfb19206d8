"""DNS names, as Kubernetes spells and explains them."""

import re
from typing import Final

LABEL_LIMIT: Final = 63
SUBDOMAIN_LIMIT: Final = 253
_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_RULE: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def label_trouble(text: str) -> str | None:
    """Why it is no DNS label; None if it is one."""
    if len(text) > LABEL_LIMIT:
        return f"must be no more than {LABEL_LIMIT} characters"
    return None if _LABEL.fullmatch(text) else LABEL_RULE


def is_subdomain(text: str) -> bool:
    return len(text) <= SUBDOMAIN_LIMIT and bool(_SUBDOMAIN.fullmatch(text))
