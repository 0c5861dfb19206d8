"""Files that every container of a pod finds in /etc: names of hosts, its own name, where to ask for names."""

from collections.abc import Sequence
from typing import Final

from kubevirt.api.core.pod import Pod
from kubevirt.embedded.objects.pods import spec_of

_LONGEST_HOSTNAME: Final = 63
_LOCAL: Final = """\
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
"""


def hostname(pod: Pod, node: str, domain: str) -> str:
    """A pod that shares the machine's network shares its name, too."""
    spec = spec_of(pod)
    if spec.host_network:
        return node
    short = (spec.hostname or pod.metadata.name or "")[:_LONGEST_HOSTNAME].rstrip("-.")
    full = full_name(pod, domain)
    return full if spec.set_hostname_as_fqdn and full else short


def full_name(pod: Pod, domain: str) -> str:
    """Empty for one that has no name in the cluster's domain."""
    spec = spec_of(pod)
    if not spec.subdomain:
        return ""
    short = spec.hostname or pod.metadata.name
    return f"{short}.{spec.subdomain}.{pod.metadata.namespace}.svc.{domain}"


def hosts(pod: Pod, addresses: Sequence[str], domain: str, machines: str = "") -> str:
    """`machines` is the machine's own file, for a pod that shares its network."""
    spec = spec_of(pod)
    if spec.host_network:
        return f"# Of the machine, for a pod in its network.\n{machines}{_aliases(pod)}"
    short = hostname(pod, "", domain).partition(".")[0]
    full = full_name(pod, domain)
    names = f"{full}\t{short}" if full else short
    own = "".join(f"{address}\t{names}\n" for address in addresses)
    return f"# Written by the node of this pod.\n{_LOCAL}{own}{_aliases(pod)}"


def _aliases(pod: Pod) -> str:
    found = spec_of(pod).host_aliases
    lines = "".join("\t".join((each.ip, *each.hostnames)) + "\n" for each in found)
    return f"\n# Of the pod's hostAliases.\n{lines}" if lines else ""
