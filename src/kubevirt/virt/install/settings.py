"""The KubeVirt object: the one thing of an installation that belongs to the user."""

from kubevirt.api.installation import KubeVirt, KubeVirtSpec
from kubevirt.api.meta import ObjectMeta
from kubevirt.virt.install.options import LABELS, NAME, Options


def installed(options: Options) -> KubeVirt:
    return KubeVirt(
        api_version="kubevirt.io/v1",
        kind="KubeVirt",
        metadata=ObjectMeta(name=NAME, namespace=options.namespace, labels=LABELS),
        spec=KubeVirtSpec(configuration=options.configuration),
    )
