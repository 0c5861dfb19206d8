import random

from kubevirt.kube.backoff import Backoff, BackoffSettings, KeyedBackoff


def test_waits_double_from_five_milliseconds_up_to_a_thousand_seconds() -> None:
    backoff: KeyedBackoff[str] = KeyedBackoff(BackoffSettings())
    waits = [backoff.next("vm") for _ in range(20)]
    assert waits[:4] == [0.005, 0.01, 0.02, 0.04]
    assert waits[17] == 0.005 * 2**17
    assert waits[18:] == [1000.0, 1000.0]


def test_a_key_that_failed_for_days_still_waits_the_longest_time() -> None:
    backoff: KeyedBackoff[str] = KeyedBackoff(BackoffSettings())
    waits = [backoff.next("vm") for _ in range(3000)]
    assert waits[-1] == 1000.0


def test_keys_do_not_wait_for_each_others_failures() -> None:
    backoff: KeyedBackoff[str] = KeyedBackoff(BackoffSettings())
    backoff.next("one")
    backoff.next("one")
    assert backoff.next("other") == 0.005
    assert (backoff.failures("one"), backoff.failures("other")) == (2, 1)


def test_a_forgotten_key_starts_again_from_the_shortest_wait() -> None:
    backoff: KeyedBackoff[str] = KeyedBackoff(BackoffSettings())
    backoff.next("vm")
    backoff.next("vm")
    backoff.forget("vm")
    backoff.forget("never failed")
    assert backoff.failures("vm") == 0
    assert backoff.next("vm") == 0.005


def test_jitter_only_lengthens_and_comes_from_the_given_randomness() -> None:
    settings = BackoffSettings(base_s=1, factor=1, jitter=0.5)
    waits = [Backoff(settings, randomness=random.Random(seed)).next() for seed in range(50)]
    assert all(1 <= wait <= 1.5 for wait in waits)
    assert len(set(waits)) > 40
    assert waits == [Backoff(settings, randomness=random.Random(seed)).next() for seed in range(50)]


def test_one_thing_that_is_tried_again_needs_no_key() -> None:
    backoff = Backoff(BackoffSettings(base_s=1, cap_s=5))
    assert [backoff.next() for _ in range(4)] == [1, 2, 4, 5]
    backoff.forget()
    assert backoff.next() == 1
