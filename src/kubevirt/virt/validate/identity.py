"""Names by which others know the guest, its resolver, and how it starts and ends."""

from ipaddress import ip_address
from typing import Final

from kubevirt.api.core.dns import PodDNSConfig
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.validate.causes import Causes, invalid, not_supported, plain, required
from kubevirt.virt.validate.labels import is_subdomain, label_trouble
from kubevirt.virt.validate.rules import Rules

EVICTIONS: Final = ("None", "LiveMigrate", "LiveMigrateIfPossible", "External")
DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
MOST_NAMESERVERS: Final = 3
MOST_SEARCHES: Final = 32


def identity_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    if spec.hostname and (trouble := label_trouble(spec.hostname)):
        here = f"{field}.hostname"
        yield invalid(
            here, f"{here} does not conform to the kubernetes DNS_LABEL rules : {trouble}"
        )
    if spec.subdomain and (trouble := label_trouble(spec.subdomain)):
        here = f"{field}.subdomain"
        yield invalid(
            here, f"{here} does not conform to the kubernetes DNS_LABEL rules : {trouble}"
        )
    names = {
        "priorityClassName": spec.priority_class_name,
        "serviceAccountName": spec.service_account_name,
        "schedulerName": spec.scheduler_name,
    }
    for name, value in names.items():
        if value and not is_subdomain(value):
            yield invalid(f"{field}.{name}", f"{field}.{name} '{plain(value)}' is no DNS name")
    yield from _resolver(spec, field)
    yield from _life(spec, field)


def _resolver(spec: VirtualMachineInstanceSpec, field: str) -> Causes:
    policy, config, here = spec.dns_policy, spec.dns_config, f"{field}.dnsConfig"
    if policy and policy not in DNS_POLICIES:
        yield not_supported(
            f"{field}.dnsPolicy",
            f"DNSPolicy: {plain(policy)} is not supported, valid values: "
            f"[{' '.join(DNS_POLICIES)}]",
        )
    if policy == "None" and (config is None or not config.nameservers):
        yield required(
            f"{here}.nameservers",
            "must provide at least one DNS nameserver when `dnsPolicy` is None",
        )
    if config is not None:
        yield from _dns_config(config, here)


def _dns_config(config: PodDNSConfig, here: str) -> Causes:
    if len(config.nameservers) > MOST_NAMESERVERS:
        yield invalid(
            here,
            f"must not have more than {MOST_NAMESERVERS} nameservers: {len(config.nameservers)}",
        )
    for index, server in enumerate(config.nameservers[:MOST_NAMESERVERS]):
        if not _is_address(server):
            yield invalid(
                f"{here}.nameservers[{index}]", f"must be valid IP address: {plain(server)}"
            )
    if len(config.searches) > MOST_SEARCHES:
        yield invalid(f"{here}.searches", f"must not have more than {MOST_SEARCHES} search paths")
    for index, search in enumerate(config.searches[:MOST_SEARCHES]):
        if not is_subdomain(search.removesuffix(".")):
            yield invalid(
                f"{here}.searches[{index}]", f"Search domain is not valid: {plain(search)}"
            )
    for index, option in enumerate(config.options):
        if not option.name:
            yield invalid(f"{here}.options[{index}]", "Option.Name must not be empty for value")


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _life(spec: VirtualMachineInstanceSpec, field: str) -> Causes:
    if spec.eviction_strategy and spec.eviction_strategy not in EVICTIONS:
        here = f"{field}.evictionStrategy"
        yield invalid(
            here, f"{here} is set with an unrecognized option: {plain(spec.eviction_strategy)}"
        )
    here = f"{field}.startStrategy"
    if spec.start_strategy and spec.start_strategy != "Paused":
        yield invalid(
            here, f"{here} is set with an unrecognized option: {plain(spec.start_strategy)}"
        )
    elif spec.start_strategy and spec.liveness_probe is not None:
        yield invalid(
            here,
            f"either {here} or {field}.livenessProbe should be provided.Pausing VMI with "
            f"LivenessProbe is not supported",
        )
    grace = spec.termination_grace_period_seconds
    if grace is not None and grace < 0:
        yield invalid(
            f"{field}.terminationGracePeriodSeconds",
            f"{field}.terminationGracePeriodSeconds must be greater than or equal to 0",
        )
