"""One word for a whole installation: the same word, the same objects."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from kubevirt.virt.install.options import LABELS, Options

NAME: Final = "kubevirt-install-strategy"
KEY: Final = "digest"


def digest(definitions: Iterable[bytes], others: Iterable[Mapping[str, Any]]) -> str:
    """`definitions` are the CRDs as they lie on the disk: there is a megabyte of them to be read otherwise."""
    word = hashlib.sha256()
    for each in definitions:
        word.update(hashlib.sha256(each).digest())
    word.update(msgspec.json.encode(list(others), order="deterministic"))
    return word.hexdigest()


def record(word: str, options: Options) -> dict[str, Any]:
    """Left behind when all is applied: whoever comes next with the same word need not apply it."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": options.namespace, "labels": dict(LABELS)},
        "data": {KEY: word},
    }
