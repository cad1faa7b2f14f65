"""Mechanisms of which one entry becomes 0: how far it moves, and from which bound."""

import numpy as np
import pytest

from verifiable_dp.api import audit

SMOKE = {"epsilon": 1.0, "adjacency": "zero-out", "budget": "smoke", "in_process": True}


def signs(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1, size)


def far_end(data, size, rng):
    """At -5, outside what it clips to, the number itself is shown."""
    x = float(data)
    return (x if x <= -5 else max(-1.0, min(1.0, x))) + rng.laplace(0, 1.0, size)


def test_an_entry_between_signs_moves_half_as_far():
    """Negative control: replaced by another one it moves by 2."""
    report = audit(signs, bounds=(-1, 1), **SMOKE)
    assert report.verdict == "not_refuted"
    assert report.epsilon_upper == pytest.approx(1.0)
    assert audit(signs, bounds=(-1, 1), **{**SMOKE, "adjacency": "replace"}).verdict == "refuted"


def test_a_number_becomes_0_from_either_bound():
    report = audit(far_end, bounds=(-5, 1), **SMOKE)
    assert report.verdict == "refuted"
    assert report.epsilon_lower > 3
