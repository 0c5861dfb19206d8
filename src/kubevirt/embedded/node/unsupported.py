"""What the embedded home does not do: each with the way out, for whoever asks for it nevertheless."""

from collections.abc import Iterator

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod, PodSpec
from kubevirt.embedded.node.policy import all_containers
from kubevirt.embedded.objects.pods import spec_of


def of(pod: Pod) -> Iterator[str]:
    for container in all_containers(pod):
        yield from _rights(container)
        if not spec_of(pod).host_network:
            yield from _ports(container)
    yield from _sharing(spec_of(pod))
    yield from _others(spec_of(pod))


def _rights(container: Container) -> Iterator[str]:
    context = container.security_context
    if context is not None and context.privileged:
        yield (
            f"container {container.name} asks to be privileged, which the embedded home gives to"
            " nobody; name the capabilities that it needs in securityContext.capabilities.add"
        )
    if context is not None and context.proc_mount not in (None, "Default"):
        yield (
            f"container {container.name} asks for procMount {context.proc_mount}, which the embedded"
            " home does not have; leave it out"
        )


def _ports(container: Container) -> Iterator[str]:
    for port in container.ports:
        if port.host_port:
            yield (
                f"container {container.name} asks for port {port.host_port} of the machine (hostPort),"
                " which the embedded home does not forward; use a Service, or hostNetwork"
            )


def _sharing(spec: PodSpec) -> Iterator[str]:
    for field, is_asked, what in (
        ("hostPID", spec.host_pid, "the machine's processes"),
        ("hostIPC", spec.host_ipc, "the machine's shared memory"),
        ("shareProcessNamespace", spec.share_process_namespace, "its containers' processes"),
    ):
        if is_asked:
            yield (
                f"the pod asks to share {what} ({field}), which the embedded home does not do; leave"
                " it out"
            )


def _others(spec: PodSpec) -> Iterator[str]:
    if spec.host_users is False:
        yield (
            "the pod asks for a user namespace (hostUsers: false), which the embedded home does not"
            " make; leave it out"
        )
    if spec.resource_claims:
        yield (
            "the pod asks for devices by resourceClaims, which the embedded home does not have; ask"
            " for them by resources.limits of a device plugin"
        )
