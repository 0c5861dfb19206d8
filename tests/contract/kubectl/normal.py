"""What two servers may say differently: names that they make up, times, versions, places."""

import re
from collections.abc import Iterable, Iterator

from tests.contract.kubectl.script import MANIFESTS, Said

_REPLACED = tuple(
    (re.compile(pattern, re.MULTILINE), by)
    for pattern, by in (
        (re.escape(f"{MANIFESTS}/"), ""),
        (r"^[EIW]\d{4} \d\d:\d\d:.*\n", ""),  # kubectl's own log, of its time being up
        (r"^Warning: kubevirt\.io/.*\n", ""),  # of kinds that other tests define on the same server
        (r"(?<=v1\.34\.4)\+kubevirt-py", ""),
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uid>"),
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?[+-]\d{4}|Z)?", "<time>"),
        (r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "<time>"),
        (r"https?://(127\.0\.0\.1|localhost):\d+", "<server>"),
        (r"eyJ[\w-]+\.[\w-]+\.[\w-]+", "<token>"),
        (r"X509SHA256=\w+", "<certificate>"),
        (r"kube-api-access-\w{5}", "<volume>"),
        (r"\b10\.\d+\.\d+\.\d+", "<address>"),
        (r'(resourceVersion"?: ?"?|Resource Version: +|resourceVersion\\":\\")\d+', r"\1<version>"),
        (r"(?<![\w.=-])(\d+[dhms])+(?![\w-])|<invalid>", "<age>"),
        (r"/tmp/[\w.-]+(/[\w.-]+)*", "<file>"),
        (r"(?<=\S) {2,}", "  "),  # columns are as wide as what is in them
        (r" +$", ""),
    )
)
_FIELD = re.compile(r"\s+\S+\t<")
_HEADS = ("KIND:", "VERSION:", "GROUP:", "FIELD:", "FIELDS:", "error:", "    enum:")
_OF_EVERY_KIND = ("  apiVersion\t", "  kind\t", "  metadata\t")
_NO_SUCH_KINDS = ("No resource quota.", "No LimitRange resource.")
_OF_CONTROLLERS = ("Annotations: ", "Taints: ")
"""What Kubernetes' controllers do to a node."""
_NO_SUCH_GROUPS = (
    *("autoscaling/", "batch/", "certificates.k8s.io/", "flowcontrol.apiserver.k8s.io/"),
    *("networking.k8s.io/", "node.k8s.io/", "resource.k8s.io/"),
)

_OURS = "kitchen.example/"
"""The group of the script's own CRD."""
_OTHERS = (".example/", "kubevirt.io/")


def text(said: Said) -> str:
    """All that a command printed, as it must be the same."""
    printed = "".join(f"{line}\n" for line in _lines(said)) + said.stderr
    for pattern, by in _REPLACED:
        printed = pattern.sub(by, printed)
    ending = f"(ended with {said.code})\n" if said.code else ""
    return f"$ kubectl {said.step.line}\n{printed}{ending}"


def _lines(said: Said) -> Iterable[str]:
    lines = said.stdout.splitlines()
    match said.step.words:
        case ["explain", *_]:
            return _explained(lines, is_custom="kettle" in said.step.line)
        case ["describe", "namespace", *_]:
            return (line for line in lines if line and line not in _NO_SUCH_KINDS)
        case ["describe", "node", *_]:
            lines = said.stdout.partition("Events:")[0].splitlines()
            return (line for line in lines if not line.startswith(_OF_CONTROLLERS))
        case ["api-versions"]:
            return (line for line in lines if _is_compared(line))
        case ["wait", *words] if "--for=delete" in words and not said.code:
            return ()  # it tells whether the object was still there, a matter of moments
    return lines


def _is_compared(group: str) -> bool:
    """Other tests of this session define kinds on the same server."""
    is_of_others = any(each in group for each in _OTHERS) and not group.startswith(_OURS)
    return not is_of_others and not group.startswith(_NO_SUCH_GROUPS)


def _explained(lines: Iterable[str], *, is_custom: bool) -> Iterator[str]:
    """Without descriptions that no author of a CRD wrote: those of built-in kinds, and of what every
    kind has.
    """
    is_kept = is_custom
    for line in lines:
        is_head = bool(_FIELD.match(line)) or line.startswith(_HEADS)
        if is_head:
            is_kept = is_custom and not line.startswith(_OF_EVERY_KIND)
        if is_head or is_kept:
            yield line
