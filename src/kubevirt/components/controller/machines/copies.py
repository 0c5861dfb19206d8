"""Copies of a machine's spec, written as Kubernetes writes JSON itself.

A server compares the content of a ControllerRevision byte by byte, since it must never change, but writes it anew when
anything else of the object is patched. What is not in its own spelling (keys in order, no spaces, `&` and the like escaped)
then counts as changed, and the patch is refused. The garbage collector makes such a patch when a machine is deleted and its guest
is to run on.
"""

import json
from typing import Any, Final

import msgspec

from kubevirt.api.core.workloads import ControllerRevision

_ESCAPED: Final = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


def manifest(copy: ControllerRevision) -> dict[str, Any]:
    return {**msgspec.to_builtins(copy), "data": msgspec.Raw(spelled(copy.data))}


def spelled(content: Any) -> bytes:
    plain = msgspec.to_builtins(content)
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.translate(_ESCAPED).encode()
