"""Upper bounds for code that draws from `np.random`'s legacy functions, and for its leaking twins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore

# ruff: noqa: NPY002


def found(noisy):
    def play(rewards, rng):
        half, arms = len(rewards) // 2, np.arange(len(rewards)) % 2
        sums = np.zeros(2)
        for t in range(half):
            sums[t % 2] += rewards[t, t % 2]
        arms[half:] = np.argmax(noisy(sums, rng))
        return arms

    return explore(Program(play, (12, 2), (0.0, 1.0)), 2, most=8)


RIGHT = [
    lambda s, rng: s + np.random.laplace(0, 1.0, 2),
    lambda s, rng: s + np.random.laplace(scale=1.0, size=2),
    lambda s, rng: np.random.laplace(s, 1.0),
    lambda s, rng: s + (np.random.exponential(1.0, 2) - np.random.exponential(1.0, 2)),
    lambda s, rng: [
        x - np.sign(u) * np.log(1 - 2 * abs(u)) for x in s for u in [np.random.uniform(-0.5, 0.5)]
    ],
]
LEAKS = [
    lambda s, rng: s + np.random.laplace(0, 0.5, 2),  # too little
    lambda s, rng: s + np.random.laplace(1.0, size=2) * 0.5,
    lambda s, rng: s + np.random.RandomState(7).laplace(0, 1.0, 2),  # known to everybody
    lambda s, rng: (np.random.seed(7), s + np.random.laplace(0, 1.0, 2))[1],
    lambda s, rng: s + (z := np.random.laplace(0, 1.0, 2)) - z,
    lambda s, rng: s + np.random.randint(3, size=2),
]


@pytest.mark.parametrize("noisy", RIGHT)
def test_legacy_draws_are_followed(noisy):
    got = found(noisy)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0, rel=1e-9))


@pytest.mark.parametrize("noisy", LEAKS)
def test_their_leaking_twins_are_not_bounded_within_the_claim(noisy):
    assert found(noisy).epsilon() > 1 + 1e-3


def test_normal_noise_costs_what_the_gaussian_mechanism_costs():
    ours, theirs = (
        found(lambda s, rng, draw=draw: s + draw(rng))
        for draw in (lambda rng: np.random.normal(0, 2.0, 2), lambda rng: rng.normal(0, 2.0, 2))
    )
    assert ours.words() == ""
    assert ours.bound(1e-5).epsilon == pytest.approx(theirs.bound(1e-5).epsilon)
    assert math.isfinite(ours.bound(1e-5).epsilon)
