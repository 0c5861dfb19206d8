"""Memory beside the guest's: what is added for what, and that it is never above the mission's."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.virt.domain_cases import a_vmi
from tests.unit.virt.pod.cases import a_config

from kubevirt.base.errors import ConfigError
from kubevirt.virt.pod.launch import Launch
from kubevirt.virt.pod.overhead import overhead_bytes

MIB = 1 << 20
GUEST = 64 * MIB


def overhead(spec: dict[str, Any] | None = None, **settings: Any) -> int:
    return overhead_bytes(Launch(a_vmi({"spec": spec or {}}), a_config(**settings)))


def devices(**values: Any) -> dict[str, Any]:
    return {"domain": {"devices": values}}


def test_an_emulated_guest_costs_what_was_measured() -> None:
    assert overhead() == (60 + 46 + 32 + 8 + 16) * MIB + GUEST // 512


@pytest.mark.parametrize(
    ("spec", "more_mib"),
    [
        (devices(autoattachGraphicsDevice=False), -16),
        ({"domain": {"cpu": {"sockets": 2, "cores": 2}}}, 3 * 8),
        (devices(tpm={}), 53),
        (devices(tpm={"enabled": False}), 0),
        (devices(downwardMetrics={}), 1),
        ({"volumes": [{"name": "metrics", "downwardMetrics": {}}]}, 1),
        ({"livenessProbe": {"guestAgentPing": {}}}, 40),
        (
            {
                "livenessProbe": {"exec": {"command": ["a"]}},
                "readinessProbe": {"guestAgentPing": {}},
            },
            80,
        ),
        ({"readinessProbe": {"tcpSocket": {"port": 22}}}, 0),
        ({"architecture": "arm64"}, 64),
        (
            {"domain": {"memory": {"guest": "64Mi", "reservedOverhead": {"addedOverhead": "5Mi"}}}},
            5,
        ),
        ({"domain": {"memory": {"guest": "64Mi", "reservedOverhead": {"addedOverhead": "0"}}}}, 0),
    ],
    ids=str,
)
def test_what_a_guest_has_is_added(spec: dict[str, Any], more_mib: int) -> None:
    assert overhead(spec) - overhead() == more_mib * MIB


def test_without_emulation_nothing_is_translated() -> None:
    assert overhead() - overhead(emulation=False) == 32 * MIB


def test_a_ratio_multiplies_the_whole_rounded_up() -> None:
    assert overhead(overhead_ratio="1.5") == overhead() * 3 // 2
    assert overhead(overhead_ratio="1.0000000001") == overhead() + 1


@pytest.mark.parametrize("ratio", ["much", "0", "-1", "NaN", "Infinity", "1e9"])
def test_a_ratio_that_is_no_number_is_refused(ratio: str) -> None:
    with pytest.raises(ConfigError, match="additionalGuestMemoryOverheadRatio"):
        overhead(overhead_ratio=ratio)


@given(
    mib=st.integers(1, 1 << 24),
    sockets=st.integers(1, 512),
    screen=st.booleans(),
    emulation=st.booleans(),
)
def test_no_guest_costs_more_than_the_missions(
    *, mib: int, sockets: int, screen: bool, emulation: bool
) -> None:
    spec = {
        "domain": {
            "cpu": {"sockets": sockets},
            "memory": {"guest": f"{mib}Mi"},
            "devices": {"autoattachGraphicsDevice": screen},
        }
    }
    mission = (138 + 8 + 8 * sockets + 16 * screen) * MIB + mib * MIB // 512
    assert overhead(spec, emulation=emulation) <= mission
