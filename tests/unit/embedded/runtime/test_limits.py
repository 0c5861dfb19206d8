"""The numbers that a container's resources become."""

from collections.abc import Mapping

import pytest

from kubevirt.api.core.container import ResourceRequirements
from kubevirt.embedded.runtime.limits import limits_of
from kubevirt.host.cgroups.group import CgroupLimits

Amounts = Mapping[str, str]


@pytest.mark.parametrize(
    ("requests", "limits", "expected"),
    [
        ({}, {}, CgroupLimits(cpu_shares=2)),
        ({"cpu": "100m"}, {}, CgroupLimits(cpu_shares=102)),
        ({"cpu": "1m"}, {}, CgroupLimits(cpu_shares=2)),
        ({"cpu": "2000"}, {}, CgroupLimits(cpu_shares=262_144)),
        ({}, {"cpu": "500m"}, CgroupLimits(cpus=0.5, cpu_shares=512)),
        ({"cpu": "1"}, {"cpu": "2"}, CgroupLimits(cpus=2.0, cpu_shares=1024)),
        ({"memory": "1Gi"}, {"memory": "2Gi"}, CgroupLimits(cpu_shares=2, memory_bytes=2 << 30)),
        ({}, {"cpu": "0", "memory": "0"}, CgroupLimits(cpu_shares=2)),
    ],
)
def test_resources_become_what_a_kubelet_would_write(
    requests: Amounts, limits: Amounts, expected: CgroupLimits
) -> None:
    assert limits_of(ResourceRequirements(requests=requests, limits=limits)) == expected


def test_a_container_that_asks_for_nothing_comes_last() -> None:
    assert limits_of(None) == CgroupLimits(cpu_shares=2)
