"""A container: what it runs and how it may."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from kubevirt.api.core.probes import ExecAction, HTTPGetAction, Probe, TCPSocketAction
from kubevirt.api.core.references import ObjectFieldSelector, ResourceFieldSelector
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int32, Int64, Quantity, Struct, list_map


class ConfigMapKeySelector(Struct, frozen=True, kw_only=True):
    """One key of a ConfigMap."""

    name: str | None = None
    key: str
    optional: bool | None = None


class SecretKeySelector(Struct, frozen=True, kw_only=True):
    """One key of a Secret."""

    name: str | None = None
    key: str
    optional: bool | None = None


class EnvVarSource(Struct, frozen=True, kw_only=True):
    """Where the value of a variable is read from: exactly one is set."""

    config_map_key_ref: ConfigMapKeySelector | None = None
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    secret_key_ref: SecretKeySelector | None = None


class EnvVar(Struct, frozen=True, kw_only=True):
    """An environment variable, given literally or by source."""

    name: str
    value: str | None = None
    value_from: EnvVarSource | None = None


class ConfigMapEnvSource(Struct, frozen=True, kw_only=True):
    """A ConfigMap whose keys all become variables."""

    name: str | None = None
    optional: bool | None = None


class SecretEnvSource(Struct, frozen=True, kw_only=True):
    """A Secret whose keys all become variables."""

    name: str | None = None
    optional: bool | None = None


class EnvFromSource(Struct, frozen=True, kw_only=True):
    """Variables taken over in bulk, with an optional prefix."""

    config_map_ref: ConfigMapEnvSource | None = None
    prefix: str | None = None
    secret_ref: SecretEnvSource | None = None


class ContainerPort(Struct, frozen=True, kw_only=True):
    """A port that the container listens on; named ports can be referred to."""

    name: str | None = None
    container_port: Int32
    host_ip: str | None = field(default=None, name="hostIP")
    host_port: Int32 | None = None
    protocol: str | None = None


class ResourceClaim(Struct, frozen=True, kw_only=True):
    """A device claim of the pod, as one container uses it."""

    name: str
    request: str | None = None


class ResourceRequirements(Struct, frozen=True, kw_only=True):
    """What a container asks for and what it may not exceed."""

    claims: Annotated[tuple[ResourceClaim, ...], list_map("name")] = ()
    limits: Mapping[str, Quantity] = NO_ENTRIES
    requests: Mapping[str, Quantity] = NO_ENTRIES


class VolumeMount(Struct, frozen=True, kw_only=True):
    """Where a container sees a volume of its pod."""

    name: str
    mount_path: str
    mount_propagation: str | None = None
    read_only: bool | None = None
    recursive_read_only: str | None = None
    sub_path: str | None = None
    sub_path_expr: str | None = None


class VolumeDevice(Struct, frozen=True, kw_only=True):
    """Where a container sees a volume as a raw block device."""

    name: str
    device_path: str


class Capabilities(Struct, frozen=True, kw_only=True):
    """Linux capabilities added to or dropped from the runtime's default."""

    add: Annotated[tuple[str, ...], ATOMIC] = ()
    drop: Annotated[tuple[str, ...], ATOMIC] = ()


class SELinuxOptions(Struct, frozen=True, kw_only=True):
    """An SELinux label; parts left out are chosen by the runtime."""

    type: str | None = None
    level: str | None = None
    role: str | None = None
    user: str | None = None


class SeccompProfile(Struct, frozen=True, kw_only=True):
    """System calls allowed: RuntimeDefault, Unconfined, or a file on the node (Localhost)."""

    type: str
    localhost_profile: str | None = None


class AppArmorProfile(Struct, frozen=True, kw_only=True):
    """AppArmor confinement: RuntimeDefault, Unconfined, or a loaded profile (Localhost)."""

    type: str
    localhost_profile: str | None = None


class SecurityContext(Struct, frozen=True, kw_only=True):
    """Privileges of one container; goes before those of its pod."""

    allow_privilege_escalation: bool | None = None
    app_armor_profile: AppArmorProfile | None = None
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    proc_mount: str | None = None
    read_only_root_filesystem: bool | None = None
    run_as_group: Int64 | None = None
    run_as_non_root: bool | None = None
    run_as_user: Int64 | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None


class SleepAction(Struct, frozen=True, kw_only=True):
    """Does nothing for a while."""

    seconds: Int64


class LifecycleHandler(Struct, frozen=True, kw_only=True):
    """What to do at a moment of a container's life: exactly one is set."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    sleep: SleepAction | None = None
    tcp_socket: TCPSocketAction | None = None


class Lifecycle(Struct, frozen=True, kw_only=True):
    """Actions after a container's start and before its stop."""

    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class Container(Struct, frozen=True, kw_only=True):
    """One process of a pod with its image, mounts and limits."""

    name: str
    args: Annotated[tuple[str, ...], ATOMIC] = ()
    command: Annotated[tuple[str, ...], ATOMIC] = ()
    env: Annotated[tuple[EnvVar, ...], list_map("name")] = ()
    env_from: Annotated[tuple[EnvFromSource, ...], ATOMIC] = ()
    image: str | None = None
    image_pull_policy: str | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    ports: Annotated[tuple[ContainerPort, ...], list_map("containerPort", "protocol")] = ()
    readiness_probe: Probe | None = None
    resources: ResourceRequirements | None = None
    restart_policy: str | None = None
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    tty: bool | None = None
    volume_devices: Annotated[tuple[VolumeDevice, ...], list_map("devicePath")] = ()
    volume_mounts: Annotated[tuple[VolumeMount, ...], list_map("mountPath")] = ()
    working_dir: str | None = None
