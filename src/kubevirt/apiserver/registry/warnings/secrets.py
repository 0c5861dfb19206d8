"""Secrets for TLS whose certificate and key do not belong together."""

import base64
from collections.abc import Iterator

from kubevirt.apiserver.auth import key_pairs
from kubevirt.apiserver.registry.rules.rules import Object


def of_secret(new: Object, _: Object | None) -> Iterator[str]:
    if new.get("type") != "kubernetes.io/tls":
        return
    data = new.get("data") or {}
    certificate, key = (base64.b64decode(data.get(name) or "") for name in ("tls.crt", "tls.key"))
    if complaint := key_pairs.complaint(certificate, key):
        yield complaint
