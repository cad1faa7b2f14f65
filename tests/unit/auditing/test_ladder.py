"""Data of several sizes for a mechanism: a leak at one of them is found, and what was tried is said."""

import numpy as np
import pytest

import verifiable_dp as vdp
from verifiable_dp.auditing import ladder
from verifiable_dp.record import words
from verifiable_dp.record.model import Record


def clipped(data):
    return np.clip(np.asarray(data, dtype=float), 0.0, 1.0)


def nothing_to_count(data, size, rng):
    x = clipped(data)
    return x.sum() + rng.laplace(size=size) if x.size else np.zeros(size)


def always_noisy(data, size, rng):
    return clipped(data).sum() + rng.laplace(size=size)


def batch_of_half(data, size, rng):
    x = clipped(data)
    return (x.sum() + rng.laplace(size=size)) / max(1, len(x) // 2)


def batch_of_two(data, size, rng):
    return (clipped(data).sum() + rng.laplace(size=size)) / 2


def bins_of_values(data, size, rng):
    _, counts = np.unique(clipped(data), return_counts=True)
    return counts + rng.laplace(size=(size, counts.size))


def bins_that_are_stated(data, size, rng):
    counts, _ = np.histogram(clipped(data), bins=4, range=(0, 1))
    return counts + rng.laplace(size=(size, 4))


_SMALL = 40


def small_noise_at_a_named_size(data, size, rng):
    x = clipped(data)
    return x.sum() + rng.laplace(size=size) * (0.1 if x.size == _SMALL else 1.0)


def refuses_one(data, size, rng):
    if len(data) < 2:
        raise ValueError("at least two records")
    return clipped(data).sum() + rng.laplace(size=size)


def audited(function, adjacency):
    return vdp.audit(function, epsilon=1.0, adjacency=adjacency, budget="smoke", runs=400, seed=0)


@pytest.mark.parametrize(
    ("leak", "fixed", "adjacency"),
    [
        (nothing_to_count, always_noisy, "add-remove"),
        (batch_of_half, batch_of_two, "add-remove"),
        (bins_of_values, bins_that_are_stated, "add-remove"),
        (small_noise_at_a_named_size, always_noisy, "replace"),
        (small_noise_at_a_named_size, always_noisy, "add-remove"),
    ],
)
def test_a_leak_at_one_size_is_refuted_and_right_code_is_not(leak, fixed, adjacency, monkeypatch):
    assert audited(leak, adjacency).verdict == "refuted"
    right = audited(fixed, adjacency)
    assert right.verdict == "not_refuted"
    said = "; ".join(words.not_covered(Record.of(right.record)))
    assert "data of other sizes than " in said
    assert "7, 8, 15 or 16 entries" in said if adjacency == "add-remove" else "8 or 16 entries" in said
    # Control: without the ladder all of these leaks pass.
    monkeypatch.setattr(ladder, "neighbours", lambda size, bounds, kind: iter(()))
    assert audited(leak, adjacency).verdict != "refuted"


def test_code_that_refuses_a_size_is_not_accused_and_the_record_says_so():
    report = audited(refuses_one, "add-remove")
    assert report.verdict == "not_refuted"
    assert {"id": "refused-sizes", "values": {"sizes": [0, 1]}, "settled_by": None} in (
        report.record["not_covered"]
    )


def test_sizes_come_from_what_the_code_holds():
    assert {39, 40, 41} <= set(ladder.sizes_in(small_noise_at_a_named_size))
    assert not {39, 40, 41} & set(ladder.sizes_in(always_noisy))


def test_pairs_that_show_nothing_new_are_left_out():
    """Of a sum all sizes come out alike but for a shift: the ladder adds none of them."""
    assert len(audited(always_noisy, "add-remove").record["pairs"]) < 8
    assert len(audited(batch_of_half, "add-remove").record["pairs"]) > 8
