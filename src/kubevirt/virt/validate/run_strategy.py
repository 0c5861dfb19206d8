"""When a machine runs: one of two fields, one of a few words."""

from typing import Final

from kubevirt.api.machine import VirtualMachineSpec
from kubevirt.virt.validate.causes import Causes, invalid, not_supported, plain, required
from kubevirt.virt.validate.rules import Rules

STRATEGIES: Final = ("Halted", "Manual", "Always", "RerunOnFailure", "Once")
AS_RECEIVER: Final = "WaitAsReceiver"


def run_strategy_causes(spec: VirtualMachineSpec, rules: Rules) -> Causes:
    strategy = spec.run_strategy
    if spec.running is not None and strategy is not None:
        yield invalid(
            "spec.running",
            "Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please "
            "use RunStrategy instead",
        )
    if spec.running is None and strategy is None:
        yield required("spec.running", "RunStrategy must be specified")
    if strategy is None or strategy in STRATEGIES:
        return
    if strategy != AS_RECEIVER:
        yield invalid("spec.runStrategy", f"Invalid RunStrategy ({plain(strategy)})")
    elif "migrations" not in rules.built:
        yield not_supported(
            "spec.runStrategy",
            f"live migration is not built yet, so no machine can wait for one; use another strategy "
            f"than {AS_RECEIVER}",
        )
