"""What the installation's settings say about a guest, since its launcher cannot ask."""

from typing import Final

from kubevirt.api.configuration import KubeVirtConfiguration, SMBiosConfiguration
from kubevirt.rpc.messages import cmd_pb2 as cmd

BALLOON_STATS_S: Final = 10
"""Between two looks at the guest's memory; KubeVirt's default."""


def options(configuration: KubeVirtConfiguration) -> cmd.VirtualMachineOptions:
    period = configuration.mem_balloon_stats_period
    machine = configuration.virtual_machine_options
    return cmd.VirtualMachineOptions(
        MemBalloonStatsPeriod=BALLOON_STATS_S if period is None else max(period, 0),
        VirtualMachineSMBios=_smbios(configuration.smbios),
        clusterConfig=cmd.ClusterConfig(
            # No setting any more: our launchers grow disks without being told, those of other makes may ask.
            ExpandDisksEnabled=True,
            FreePageReportingDisabled=bool(machine and machine.disable_free_page_reporting),
            SerialConsoleLogDisabled=bool(machine and machine.disable_serial_console_log),
        ),
    )


def _smbios(wanted: SMBiosConfiguration | None) -> cmd.SMBios:
    if wanted is None:
        return cmd.SMBios()
    return cmd.SMBios(
        manufacturer=wanted.manufacturer or "",
        product=wanted.product or "",
        version=wanted.version or "",
        sku=wanted.sku or "",
        family=wanted.family or "",
    )
