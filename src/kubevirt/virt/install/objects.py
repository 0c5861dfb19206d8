"""Everything that an installation consists of, in an order in which it can be applied."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from kubevirt.api.core.namespace import Namespace
from kubevirt.api.core.scheduling import PriorityClass
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import Struct
from kubevirt.virt.install import front, monitoring, people, rights, settings
from kubevirt.virt.install.options import LABELS, Options

Object = dict[str, Any]

CRITICAL: Final = "kubevirt-cluster-critical"
_CRITICAL_VALUE: Final = 1_000_000_000


def objects(options: Options, definitions: Iterable[Mapping[str, Any]]) -> list[Object]:
    """`definitions` are the CRDs (`api.crds.load`): they are files, and nothing is read here.

    Kinds come before objects of them, the namespace before what is in it, roles before who is bound to them,
    and the KubeVirt object last: where it is, everything else is.
    """
    return [*map(dict, definitions), *others(options)]


def others(options: Options) -> list[Object]:
    """All but the CRDs, of which there is a megabyte: enough to see whether anything has to be applied."""
    return [msgspec.json.decode(msgspec.json.encode(each)) for each in _structs(options)]


def _structs(options: Options) -> Iterator[Struct]:
    yield _namespace(options)
    yield _critical()
    yield from rights.objects(options)
    yield from people.objects(options)
    yield front.service(options)
    yield monitoring.service(options)
    yield from front.api_services(options)
    yield from front.webhooks(options)
    yield settings.installed(options)


def _namespace(options: Options) -> Namespace:
    """virt-handler prepares networks and disks of others, which no restricted pod could."""
    labels = {**LABELS, "pod-security.kubernetes.io/enforce": "privileged"}
    return Namespace(
        api_version="v1",
        kind="Namespace",
        metadata=ObjectMeta(name=options.namespace, labels=labels),
    )


def _critical() -> PriorityClass:
    return PriorityClass(
        api_version="scheduling.k8s.io/v1",
        kind="PriorityClass",
        metadata=ObjectMeta(name=CRITICAL, labels=LABELS),
        value=_CRITICAL_VALUE,
        description="KubeVirt's own programs; not for guests.",
    )
