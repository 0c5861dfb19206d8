"""How the API server comes to virt-api: a Service, the APIs that it serves, the questions that it answers."""

from base64 import b64encode
from collections.abc import Iterator
from typing import Final

from kubevirt.api.core.admission import (
    MutatingWebhookConfiguration,
    ServiceReference,
    ValidatingWebhookConfiguration,
    WebhookClientConfig,
)
from kubevirt.api.core.extension import APIService, APIServiceSpec
from kubevirt.api.core.extension import ServiceReference as Answerer
from kubevirt.api.core.service import Service, ServicePort, ServiceSpec
from kubevirt.api.meta import ObjectMeta
from kubevirt.virt import admission_paths
from kubevirt.virt.commands.calls import GROUP, VERSIONS
from kubevirt.virt.install.options import LABELS, Options

NAME: Final = "virt-api"
PORT: Final = 443
TARGET_PORT: Final = 8443
_GROUP_PRIORITY: Final = 1000
_VERSION_PRIORITY: Final = 15


def service(options: Options) -> Service:
    return Service(
        api_version="v1",
        kind="Service",
        metadata=ObjectMeta(name=NAME, namespace=options.namespace, labels=LABELS),
        spec=ServiceSpec(
            selector={"kubevirt.io": NAME},
            ports=(ServicePort(port=PORT, target_port=TARGET_PORT, protocol="TCP"),),
        ),
    )


def api_services(options: Options) -> Iterator[APIService]:
    for version in VERSIONS:
        yield APIService(
            api_version="apiregistration.k8s.io/v1",
            kind="APIService",
            metadata=ObjectMeta(name=f"{version}.{GROUP}", labels=LABELS),
            spec=APIServiceSpec(
                group=GROUP,
                version=version,
                service=Answerer(name=NAME, namespace=options.namespace, port=PORT),
                ca_bundle=_bundle(options),
                group_priority_minimum=_GROUP_PRIORITY,
                version_priority=_VERSION_PRIORITY,
            ),
        )


def webhooks(
    options: Options,
) -> tuple[MutatingWebhookConfiguration, ValidatingWebhookConfiguration]:
    def reach(path: str) -> WebhookClientConfig:
        return WebhookClientConfig(
            ca_bundle=_bundle(options),
            service=ServiceReference(name=NAME, namespace=options.namespace, path=path, port=PORT),
        )

    return admission_paths.mutating(reach), admission_paths.validating(reach)


def _bundle(options: Options) -> str:
    return b64encode(options.authority).decode()
