"""What a spec can ask for, and which test has seen it in a running guest; rendered into docs/domain.md.

    python -m tests.e2e.nouns.table

`tests/unit/virt/test_domain_table.py` fails if a noun has no test, a test does not exist, or the page is old.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDER = "tests/e2e/nouns"
PAGE = ROOT / "docs/domain.md"
BEGIN, END = "<!-- begin: written by tests.e2e.nouns.table -->", "<!-- end -->"

NOUNS: Mapping[str, Sequence[str]] = {
    "Disks": (
        "disk on virtio",
        "disk on sata",
        "disk on scsi",
        "disk on usb",
        "cdrom on sata",
        "cdrom on scsi",
        "cdrom on usb",
        "cdrom on virtio",
        "a drive without a disc",
        "boot order",
        "serial",
        "cache",
        "io",
        "discard",
        "shareable",
        "read-only",
        "block size",
        "io threads",
    ),
    "Volumes": (
        "containerDisk",
        "cloudInitNoCloud, inline",
        "cloudInitNoCloud, base64",
        "cloudInitNoCloud, secret",
        "cloudInitConfigDrive, inline",
        "cloudInitConfigDrive, base64",
        "cloudInitConfigDrive, secret",
        "emptyDisk",
        "ephemeral",
        "persistentVolumeClaim, file",
        "persistentVolumeClaim, block",
        "a claim that grows",
        "hostDisk",
        "configMap",
        "secret",
        "downwardAPI",
        "serviceAccount",
        "sysprep",
        "kernelBoot",
    ),
    "Machine": (
        "SMBIOS: uuid, serial, asset",
        "machine types",
        "places on the PCI bus",
        "firmware on the serial console",
        "cpu sockets",
        "cpu cores",
        "cpu threads",
        "cpu model",
        "cpu features",
        "host-passthrough",
        "memory",
        "hugepages",
        "clock",
        "timers",
        "rng",
        "watchdog",
        "tablet",
        "video",
        "headless",
        "sound",
        "panic device",
        "serial console log",
        "balloon statistics",
        "virtio-transitional",
    ),
    "Network cards": (
        "masquerade",
        "bridge",
        "models",
        "MAC",
        "multiqueue",
        "MTU",
        "DHCP options",
        "link state",
    ),
}
"""All that is promised to work, in the words of the work item."""

_BUS = "test_disks::test_a_disk_is_on_the_bus_that_was_asked_for"
_WAY = "test_cloud_init::test_every_other_way_to_give_user_and_network_data_is_read"
_PASSTHROUGH = (
    "test_with_a_handler::test_host_passthrough_becomes_the_most_that_emulation_has_and_says_so"
)
_SMBIOS = "test_machine::test_smbios_shows_the_identity_of_the_manifest"

TESTS: Mapping[str, Sequence[str]] = {
    "disk on virtio": (_BUS,),
    "disk on sata": (_BUS,),
    "disk on scsi": (_BUS,),
    "disk on usb": (_BUS,),
    "cdrom on sata": ("test_disks::test_a_disc_on_sata_is_in_a_cdrom_drive",),
    "cdrom on scsi": ("test_disks::test_a_disc_on_scsi_is_in_a_cdrom_drive",),
    "cdrom on usb": ("test_disks::test_a_disc_on_usb_is_readable_and_cannot_be_written",),
    "cdrom on virtio": ("test_disks::test_a_cdrom_on_virtio_is_refused_with_the_buses_that_work",),
    "a drive without a disc": ("test_machine::test_a_drive_may_be_without_a_disc",),
    "boot order": (
        "test_disks::test_the_disk_with_the_lowest_boot_order_is_booted_first",
        "test_network::test_only_a_card_with_a_boot_order_can_be_booted_from",
    ),
    "serial": ("test_disks::test_the_serial_number_is_the_one_of_the_manifest",),
    "cache": (
        "test_disks::test_cache_none_goes_past_the_hosts_cache",
        "test_disks::test_cache_writethrough_needs_no_flush_in_the_guest",
        "test_disks::test_cache_writeback_is_flushed_by_the_guest",
    ),
    "io": ("test_disks::test_native_io_and_io_by_threads_are_as_asked_for",),
    "discard": ("test_disks::test_space_that_the_guest_discards_is_given_back",),
    "shareable": (
        "test_disks::test_a_shareable_disk_can_be_open_twice",
        "test_disks::test_a_disk_that_is_not_shareable_is_refused_to_a_second_user",
    ),
    "read-only": ("test_disks::test_a_read_only_disk_refuses_to_be_written",),
    "block size": (
        "test_disks::test_block_sizes_are_those_of_the_manifest",
        "test_volumes::test_block_sizes_can_follow_the_volume",
    ),
    "io threads": (
        "test_disks::test_disks_are_served_by_io_threads_and_one_has_its_own",
        "test_disks::test_disks_share_one_io_thread_but_for_the_one_that_has_its_own",
        "test_disks::test_disks_are_served_by_a_pool_of_io_threads",
        "test_disks::test_a_disk_has_a_queue_for_each_processor",
    ),
    "containerDisk": (
        "test_volumes::test_a_container_disk_boots_and_takes_writes_that_are_gone_afterwards",
    ),
    "cloudInitNoCloud, inline": (
        "test_cloud_init::test_no_cloud_inline_is_read_and_carried_out",
        "test_cloud_init::test_network_data_sets_the_address",
    ),
    "cloudInitNoCloud, base64": (_WAY,),
    "cloudInitNoCloud, secret": (_WAY,),
    "cloudInitConfigDrive, inline": (_WAY,),
    "cloudInitConfigDrive, base64": (_WAY,),
    "cloudInitConfigDrive, secret": (_WAY,),
    "emptyDisk": ("test_volumes::test_an_empty_disk_is_blank_and_as_large_as_it_says",),
    "ephemeral": ("test_volumes::test_an_ephemeral_volume_never_changes_the_claim_below",),
    "persistentVolumeClaim, file": (
        "test_volumes::test_a_claim_that_is_a_file_system_has_its_disk_in_a_file",
        "test_volumes::test_a_read_only_claim_cannot_be_written",
    ),
    "persistentVolumeClaim, block": (
        "test_volumes::test_a_claim_in_block_mode_is_the_device_itself",
    ),
    "a claim that grows": (
        "test_with_a_handler::test_the_guest_sees_its_disk_grow_with_the_claim",
    ),
    "hostDisk": (
        "test_volumes::test_a_host_disk_is_a_file_of_the_machine",
        "test_volumes::test_a_host_disk_is_made_if_it_may_be",
    ),
    "configMap": ("test_volumes::test_a_config_map_is_a_disc_with_its_files",),
    "secret": ("test_volumes::test_a_secret_is_a_disc_with_its_files_and_its_label",),
    "downwardAPI": ("test_volumes::test_the_downward_api_is_a_disc_with_the_instances_own_fields",),
    "serviceAccount": ("test_with_a_handler::test_a_service_account_is_a_disc_with_its_token",),
    "sysprep": ("test_volumes::test_sysprep_is_a_cdrom_with_the_answer_file",),
    "kernelBoot": (
        "test_kernel_boot::test_a_guest_boots_from_a_kernel_in_an_image",
        "test_kernel_boot::test_its_kernel_has_the_arguments_of_the_manifest",
        "test_kernel_boot::test_a_kernel_that_is_not_in_the_image_is_refused",
    ),
    "SMBIOS: uuid, serial, asset": (_SMBIOS,),
    "machine types": (
        "test_machine::test_the_machine_type_is_the_one_asked_for",
        "test_machine::test_a_machine_type_that_qemu_lacks_is_refused",
    ),
    "places on the PCI bus": (
        "test_machine::test_a_device_is_at_the_place_on_the_bus_that_was_asked_for",
    ),
    "firmware on the serial console": (
        "test_machine::test_the_firmware_speaks_on_the_serial_console_if_it_is_told_to",
    ),
    "cpu sockets": ("test_machine::test_processors_have_the_sockets_that_were_asked_for",),
    "cpu cores": ("test_machine::test_processors_have_the_cores_that_were_asked_for",),
    "cpu threads": ("test_machine::test_processors_have_the_threads_that_were_asked_for",),
    "cpu model": (
        "test_machine::test_the_processors_model_is_the_named_one",
        "test_machine::test_a_processor_model_that_the_node_lacks_is_refused",
    ),
    "cpu features": (
        "test_machine::test_features_of_the_processor_are_added_and_taken_away",
        "test_machine::test_a_feature_that_is_forced_or_optional_is_there_if_it_can_be",
        "test_machine::test_a_feature_that_is_forbidden_is_not_there",
    ),
    "host-passthrough": (_PASSTHROUGH,),
    "memory": ("test_machine::test_memory_in_the_guest_fits_the_spec",),
    "hugepages": ("test_machine::test_huge_pages_are_refused_where_the_machine_has_none",),
    "clock": (
        "test_machine::test_the_clock_is_as_far_ahead_of_utc_as_it_says",
        "test_machine::test_the_clock_shows_the_time_of_a_time_zone",
    ),
    "timers": (
        "test_machine::test_a_timer_can_be_taken_away",
        "test_machine::test_timers_catch_up_as_the_spec_says",
    ),
    "rng": ("test_machine::test_random_numbers_come_from_the_host",),
    "watchdog": (
        "test_machine::test_a_watchdog_is_found_by_its_driver",
        "test_endings::test_a_watchdog_resets_the_guest",
        "test_endings::test_a_watchdog_switches_the_guest_off",
        "test_endings::test_a_watchdog_asks_the_guest_to_shut_down",
    ),
    "tablet": ("test_machine::test_tablets_are_on_usb_and_virtio",),
    "video": (
        "test_machine::test_there_is_a_screen_unless_it_is_switched_off",
        "test_machine::test_a_screen_is_of_the_type_asked_for",
    ),
    "headless": ("test_machine::test_there_is_a_screen_unless_it_is_switched_off",),
    "sound": ("test_machine::test_a_sound_card_is_of_the_model_asked_for",),
    "panic device": (
        "test_machine::test_a_panic_device_is_in_the_guests_tables",
        "test_endings::test_a_panic_of_the_guest_is_told",
    ),
    "serial console log": (
        "test_machine::test_the_serial_console_is_logged_from_the_first_byte",
        "test_machine::test_the_serial_console_is_not_logged_if_that_is_switched_off",
    ),
    "balloon statistics": (
        "test_with_a_handler::test_the_balloon_reports_what_memory_the_guest_has_left",
        "test_machine::test_there_is_a_balloon_unless_it_is_switched_off",
    ),
    "virtio-transitional": (
        "test_machine::test_transitional_devices_are_those_that_old_drivers_know",
        "test_network::test_a_transitional_card_is_the_one_that_old_drivers_know_and_reaches_out",
        "test_network::test_a_card_of_today_is_not_transitional",
    ),
    "masquerade": (
        "test_network::test_a_masqueraded_card_has_an_address_of_its_own_and_reaches_out",
    ),
    "bridge": ("test_network::test_a_bridged_card_has_the_address_of_the_pod_and_reaches_out",),
    "models": (
        "test_network::test_a_card_is_virtio_if_nothing_is_said",
        "test_network::test_a_card_of_each_model_is_found_by_its_driver_and_reaches_out",
        "test_network::test_a_model_that_qemu_lacks_is_refused",
    ),
    "MAC": ("test_network::test_the_mac_address_is_the_one_of_the_manifest",),
    "multiqueue": ("test_network::test_a_card_has_queues_for_each_processor",),
    "MTU": ("test_network::test_the_mtu_is_the_pods",),
    "DHCP options": ("test_network::test_dhcp_options_of_the_manifest_are_in_the_lease",),
    "link state": (
        "test_with_a_handler::test_the_guest_sees_its_cable_pulled_out_and_plugged_in_again",
    ),
}


SHOWN: Mapping[str, str] = {
    "bios-serial": "firmware on the serial console",
    "clock": "timers",
    "clock-offset": "clock",
    "clock-timezone": "clock",
    "config-drive": "cloudInitConfigDrive, inline",
    "cpu-passthrough-emulated": "host-passthrough",
    "cpu-topology": "cpu sockets",
    "devices": "watchdog",
    "disk-buses": "disk on sata",
    "disk-discard": "discard",
    "disk-options": "cache",
    "disk-storage": "io",
    "empty-cdrom": "a drive without a disc",
    "headless": "headless",
    "interfaces": "models",
    "iothreads-auto": "io threads",
    "iothreads-pool": "io threads",
    "iothreads-shared": "io threads",
    "kernel-boot": "kernelBoot",
    "machine-type": "machine types",
    "minimal": "memory",
    "mission": "masquerade",
    "multiqueue": "multiqueue",
    "pci-addresses": "places on the PCI bus",
    "quiet-console": "balloon statistics",
    "smbios": "SMBIOS: uuid, serial, asset",
    "video": "video",
    "virtio-transitional": "virtio-transitional",
    "volumes": "containerDisk",
}
"""Golden cases whose nouns guests show, each with one of them; all others are in `GOLDEN`."""


@dataclass(frozen=True)
class Golden:
    """Converted, and compared with a file; never seen in a guest."""

    noun: str
    files: Sequence[str]
    """In tests/golden/domain, without their ending."""
    why: str


GOLDEN: Sequence[Golden] = (
    Golden("lun", ("lun",), "needs a SCSI device of the host, and the test machine has none"),
    Golden(
        "EFI, with and without secure boot",
        ("efi", "efi-secure-boot"),
        "the guest boots by BIOS so far",
    ),
    Golden("GPU", ("gpu",), "needs the hardware and an IOMMU"),
    Golden("SR-IOV", ("sriov",), "needs a card with virtual functions"),
    Golden("host devices", ("host-devices",), "need the hardware and an IOMMU"),
    Golden(
        "SEV, SEV-SNP, TDX",
        ("sev", "sev-plain", "sev-snp", "tdx"),
        "need processors that encrypt memory",
    ),
    Golden(
        "dedicated CPUs",
        ("dedicated-cpus", "dedicated-iothreads", "dedicated-more-iothreads"),
        "need processors that no other container uses: a kubelet's static CPU policy",
    ),
    Golden("NUMA", ("numa",), "needs a machine with several nodes"),
    Golden("vhost-net", ("multiqueue",), "the test machine's kernel has no vhost"),
    Golden(
        "hugepages, where there are some",
        ("hugepages", "hugepages-without-memfd"),
        "the test machine sets none aside",
    ),
    Golden(
        "Hyper-V enlightenments",
        ("hyperv", "hyperv-emulated", "hyperv-passthrough", "hyperv-tlbflush"),
        "need KVM; under emulation the guest starts without them, and its owner is told",
    ),
    Golden(
        "panic devices pvpanic and hyperv",
        ("pvpanic", "devices"),
        "libvirt 9.0 does not know the one, and only Windows uses the other",
    ),
    Golden("card model igb", ("igb",), "QEMU has it since 8.0; the test machine has 7.2"),
    Golden("TPM", ("tpm", "tpm-persistent"), "follows with EFI"),
    Golden("virtiofs", ("filesystems",), "needs its daemon, which a pod has beside the launcher"),
    Golden(
        "memory and CPU hotplug",
        ("memory-hotplug", "cpu-hotplug"),
        "the launcher plugs nothing in while its guest runs yet; its domain has the room for it",
    ),
    Golden("host-passthrough as it is meant", ("cpu-passthrough",), "needs KVM"),
    Golden("ARM and IBM Z", ("arm64", "s390x"), "need such machines"),
    Golden(
        "licence tables for Windows",
        ("acpi-tables", "acpi-tables-both"),
        "only Windows asks for them",
    ),
    Golden(
        "video type ramfb",
        ("video",),
        "is no card but a piece of memory, in which only EFI draws",
    ),
    Golden(
        "no 64-bit PCI window",
        ("pci-hole",),
        "only a guest of 32 bits would notice",
    ),
    Golden(
        "a client's USB devices, vsock, host metrics",
        ("usb-vsock-metrics",),
        "refused when an instance is made: nothing serves them yet",
    ),
    Golden(
        "a pool of I/O threads that all serve each disk",
        ("iothreads-pool-mapped",),
        "QEMU has it since 9.0; the test machine has 7.2",
    ),
    Golden(
        "a kernel in an image volume, names that disks keep",
        ("kernel-boot-found", "remembered-names"),
        "only a home mounts such volumes, and only hotplug leaves gaps between names",
    ),
)


def rendered() -> str:
    """The part of the page between its marks."""
    return "\n".join([BEGIN, "", *_proven(), *_golden(), END])


def _proven() -> Iterator[str]:
    for part, nouns in NOUNS.items():
        yield from (f"### {part}", "", "| noun | seen in a guest by |", "|---|---|")
        for noun in nouns:
            names = (test.partition("::") for test in TESTS[noun])
            shown = "<br>".join(f"[`{name}`](../{FOLDER}/{file}.py)" for file, _, name in names)
            yield f"| {noun} | {shown} |"
        yield ""


def _golden() -> Iterator[str]:
    yield from ("## Only converted", "", "| noun | golden file | why no guest has it here |")
    yield "|---|---|---|"
    for each in GOLDEN:
        files = ", ".join(f"[`{name}`](../tests/golden/domain/{name}.xml)" for name in each.files)
        yield f"| {each.noun} | {files} | {each.why} |"
    yield ""


def page_with_table(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + rendered() + after


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text()))
