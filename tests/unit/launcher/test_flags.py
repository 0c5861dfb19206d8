"""Flags as virt-controller writes them, and the one sentence for those that mean nothing here."""

from pathlib import Path

import pytest

from kubevirt.base.errors import ConfigError
from kubevirt.components.launcher import flags, launching, main
from kubevirt.components.launcher.firmware import firmware_in

NEEDED = ("--name", "testvm", "--uid", "1234", "--namespace", "default")
# What the launcher's pod was given from the beginning.
MANIFEST = (
    *("--qemu-timeout", "5m", *NEEDED),
    *("--kubevirt-share-dir", "/var/run/kubevirt"),
    *("--ephemeral-disk-dir", "/var/run/kubevirt-ephemeral-disks"),
    *("--container-disk-dir", "/var/run/kubevirt/container-disks"),
    *("--grace-period-seconds", "45", "--hook-sidecars", "0"),
    *("--less-pvc-space-toleration", "12", "--ovmf-path", "/usr/share/OVMF", "--use-emulation"),
)


def test_the_flags_of_the_pods_manifest_are_taken() -> None:
    settings, grace_s = flags.settings(MANIFEST)
    assert (settings.name, settings.uid, settings.namespace) == ("testvm", "1234", "default")
    assert settings.qemu_timeout_s == 300
    assert settings.claim_tolerance_percent == 12
    assert not settings.kvm
    assert settings.libvirt.emulated
    assert not settings.standalone
    assert not settings.commissioned
    assert grace_s == 45


def test_todays_additional_flags_are_taken_where_they_mean_something() -> None:
    settings, _ = flags.settings(
        (*NEEDED, "--run-as-nonroot", "--disk-memory-limit", "2097152000", "--hypervisor", "kvm")
    )
    assert settings.kvm


def test_a_switch_that_is_off_asks_for_nothing() -> None:
    off = [f"{name}=false" for name in flags.MISSING]
    assert flags.settings((*NEEDED, *off))


def test_images_may_be_mounted_whole() -> None:
    assert flags.settings((*NEEDED, "--image-volume"))[0].image_volumes
    assert not flags.settings(NEEDED)[0].image_volumes


def test_folders_may_lie_elsewhere() -> None:
    settings, _ = flags.settings((*NEEDED, "--kubevirt-share-dir=/share"))
    assert settings.layout.command_socket == "/share/sockets/launcher-sock"


def test_one_dash_is_as_good_as_two() -> None:
    settings, _ = flags.settings(
        ("-name", "testvm", "-uid=1", "-namespace", "default", "-use-emulation=true", "-v", "4")
    )
    assert (settings.name, settings.uid, settings.verbosity) == ("testvm", "1", 4)
    assert not settings.kvm


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5m", 300), ("240s", 240), ("1m30s", 90), ("1.5h", 5400), ("250ms", 0.25)],
)
def test_a_duration_is_read_as_go_writes_it(text: str, seconds: float) -> None:
    assert flags.duration_s(text) == seconds


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "the following arguments are required: --name, --uid, --namespace"),
        ((*NEEDED, "--qemu-timeout", "soon"), "'soon' is no duration; write it as 5m or 240s"),
        ((*NEEDED, "--use-emulation=maybe"), "'maybe' is neither true nor false"),
        ((*NEEDED, "--no-such-flag"), "unrecognized arguments: --no-such-flag"),
        ((*NEEDED, "--hook-sidecars", "1"), "has nothing for --hook-sidecars 1"),
        ((*NEEDED, "--hypervisor", "mshv"), "has nothing for --hypervisor mshv"),
        *(((*NEEDED, name), f"has nothing for {name};") for name in flags.MISSING),
        ((*NEEDED, "--libvirt-log-filters", "1:qemu"), "has nothing for --libvirt-log-filters"),
        ((*NEEDED, "--allow-emulation"), "nothing for --allow-emulation without --use-emulation"),
        ((*NEEDED, "--disk-memory-limit", "1"), "has nothing for --disk-memory-limit 1"),
        ((*NEEDED, "--grace-period-seconds", "-1"), "must not be negative"),
    ],
)
def test_a_flag_without_a_meaning_is_refused(words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        flags.settings(words)
    assert sentence in str(refused.value)


def test_bad_flags_end_the_program_as_useless(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--name", "testvm"]) == main.USELESS
    said = capsys.readouterr().err
    assert said.startswith("virt-launcher: the following arguments are required")
    assert len(said.splitlines()) == 1


def test_the_first_process_is_the_monitor_with_libvirt_and_the_manager() -> None:
    settings, grace_s = flags.settings(MANIFEST)
    argv, environment = launching.command(settings, grace_s)
    assert argv[1:3] == ["-I", "-S"]
    assert argv[3].endswith("/monitor.py")
    assert argv[4:7] == [settings.folder, "45", "--"]
    assert argv[-3:] == ["-m", launching.MANAGER, f"{settings.folder}/settings.json"]
    assert environment["HOME"] == flags.DAEMON_HOME


def test_what_the_launcher_needs_is_written_where_its_folders_are(tmp_path: Path) -> None:
    settings, _ = flags.settings(MANIFEST)
    launching.prepare(settings, lambda path: tmp_path / path.lstrip("/"))
    written = tmp_path / settings.folder.lstrip("/") / launching.SETTINGS
    assert b'"testvm"' in written.read_bytes()
    assert (tmp_path / "var/run/libvirt/libvirt/qemu.conf").is_file()
    assert (tmp_path / "var/run/kubevirt/sockets").is_dir()


def test_firmware_is_found_by_the_names_of_either_family(tmp_path: Path) -> None:
    assert firmware_in(tmp_path / "nowhere").plain is None
    for name in ("OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd", "OVMF_CODE.secboot.fd"):
        (tmp_path / name).touch()
    found = firmware_in(tmp_path)
    assert found.plain
    assert found.plain.code == str(tmp_path / "OVMF_CODE_4M.fd")
    assert found.secure is None  # its variables are missing
