"""Addresses of pods: each one's own, kept, and not given again at once."""

from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.embedded.network.leases import Leases, NoFreeAddress, next_free

RANGE = IPv4Network("10.244.0.0/27")
FIRST = RANGE[16]


def leases(folder: Path) -> Leases:
    return Leases(folder / "leases", RANGE, FIRST)


def test_a_pod_has_one_address_however_often_it_asks(tmp_path: Path) -> None:
    made = leases(tmp_path)
    assert made.take("a", "node01", "default/a") == made.take("a", "node01", "default/a")
    assert made.take("b", "node01", "default/b").address != made.take("a", "", "").address


def test_leases_are_found_again(tmp_path: Path) -> None:
    lease = leases(tmp_path).take("a", "node01", "default/a")
    again = leases(tmp_path)
    assert again.get("a") == lease
    assert again.take("a", "node01", "default/a") == lease


def test_a_range_that_is_given_out_says_so_and_has_room_again(tmp_path: Path) -> None:
    made = leases(tmp_path)
    for number in range(15):
        made.take(str(number), "node01", "")
    with pytest.raises(NoFreeAddress, match=r"all 15 addresses of 10\.244\.0\.0/27"):
        made.take("one-more", "node01", "")
    freed = made.take("3", "node01", "").address
    made.give_back("3")
    assert made.take("one-more", "node01", "").address == freed


def test_what_was_given_back_is_the_last_to_be_given_again(tmp_path: Path) -> None:
    made = leases(tmp_path)
    first = made.take("first", "node01", "").address
    made.give_back("first")
    others = [made.take(str(number), "node01", "").address for number in range(14)]
    assert first not in others
    assert made.take("last", "node01", "").address == first


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("torn.json", b""),
        (".1234.tmp", b'{"uid": "begun", "address": "10.244.0.20", "node": "n"}'),
        ("torn.json", b'{"uid": "torn"'),
        ("away.json", b'{"uid": "away", "address": "192.0.2.1", "node": "n"}'),
        ("liar.json", b'{"uid": "another", "address": "10.244.0.20", "node": "n"}'),
        ("number.json", b'{"uid": "number", "address": "ten", "node": "n"}'),
    ],
)
def test_a_file_that_is_no_lease_is_removed(tmp_path: Path, name: str, content: bytes) -> None:
    lease = leases(tmp_path).take("a", "node01", "")
    (tmp_path / "leases" / name).write_bytes(content)
    again = leases(tmp_path)
    assert list(again.all.values()) == [lease]
    assert not (tmp_path / "leases" / name).exists()


def test_of_two_leases_of_one_address_one_counts(tmp_path: Path) -> None:
    made = leases(tmp_path)
    lease = made.take("a", "node01", "")
    other = tmp_path / "leases" / "b.json"
    other.write_text(f'{{"uid": "b", "address": "{lease.address}", "node": "n"}}')
    assert len(leases(tmp_path).all) == 1


def test_a_uid_is_no_path(tmp_path: Path) -> None:
    made = leases(tmp_path)
    made.take("../../etc/passwd", "node01", "")
    assert [each.name for each in (tmp_path / "leases").iterdir()] == ["etcpasswd.json"]


@given(taken=st.sets(st.integers(16, 30)), after=st.integers(15, 30))
def test_a_free_address_is_found_if_there_is_one(taken: set[int], after: int) -> None:
    found = next_free(RANGE, FIRST, RANGE[after], {RANGE[each] for each in taken})
    free = [RANGE[each] for each in range(16, 31) if each not in taken]
    if not free:
        assert found is None
        return
    assert found in free
    later = [each for each in free if each > RANGE[after]]
    assert found == min(later or free, key=int)


def test_a_range_without_room_for_pods_has_none() -> None:
    small = IPv4Network("10.0.0.0/28")
    assert next_free(small, IPv4Address("10.0.0.16"), small[1], ()) is None
