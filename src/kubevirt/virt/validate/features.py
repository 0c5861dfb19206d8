"""Platform features, I/O threads and the reboot policy."""

from typing import Final

from kubevirt.api.features import FeatureHyperv
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.convert.iothreads import POLICIES as THREAD_POLICIES
from kubevirt.virt.convert.iothreads import POOL_LIMIT
from kubevirt.virt.validate.causes import Causes, invalid, plain
from kubevirt.virt.validate.rules import Rules

REBOOT_POLICIES: Final = ("Reboot", "Terminate")
VENDOR_LIMIT: Final = 12
LEAST_SPINLOCKS: Final = 4096


def feature_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    domain, here = spec.domain, f"{field}.domain"
    features = domain.features
    if features and features.hyperv and features.hyperv_passthrough:
        at = f"{here}.features.hypervPassthrough"
        if features.hyperv_passthrough.enabled:
            yield invalid(
                f"{here}.features.hyperv",
                f"{here}.features.hyperv cannot be used together with {at}; keep one of them",
            )
    if features and features.hyperv:
        yield from _hyperv(features.hyperv, f"{here}.features.hyperv")
    yield from _io_threads(spec, here)
    if domain.reboot_policy is not None and domain.reboot_policy not in REBOOT_POLICIES:
        at = f"{here}.rebootPolicy"
        yield invalid(at, f"{at} is set with an unrecognized option: {plain(domain.reboot_policy)}")


def _hyperv(hyperv: FeatureHyperv, here: str) -> Causes:
    vendor = hyperv.vendorid.vendorid if hyperv.vendorid else None
    if vendor and (len(vendor) > VENDOR_LIMIT or not vendor.isprintable()):
        at = f"{here}.vendorid.vendorid"
        yield invalid(at, f"{at} must have at most {VENDOR_LIMIT} characters")
    tries = hyperv.spinlocks.spinlocks if hyperv.spinlocks else None
    if tries is not None and tries < LEAST_SPINLOCKS:
        at = f"{here}.spinlocks.spinlocks"
        yield invalid(at, f"{at} must be greater than or equal to {LEAST_SPINLOCKS}")


def _io_threads(spec: VirtualMachineInstanceSpec, here: str) -> Causes:
    domain = spec.domain
    policy = domain.io_threads_policy
    if policy is not None and policy not in THREAD_POLICIES:
        yield invalid(f"{here}.ioThreadsPolicy", f"Invalid IOThreadsPolicy ({plain(policy)})")
    count = domain.io_threads.supplemental_pool_thread_count if domain.io_threads else None
    at = f"{here}.ioThreads.supplementalPoolThreadCount"
    if policy == "supplementalPool" and not 1 <= (count or 0) <= POOL_LIMIT:
        yield invalid(
            at,
            f"the number of iothreads needs to be set and between 1 and {POOL_LIMIT} for the dedicated "
            f"policy",
        )
    if count is not None and policy != "supplementalPool":
        yield invalid(at, f"{at} is only allowed with ioThreadsPolicy supplementalPool")
