"""Tracing: on linear programs of any shape the cost is the closed form, and nothing else is seen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiable_dp.core.neighbours import TablePair, tables
from verifiable_dp.evidence.tracing.examining import cost, shares
from verifiable_dp.evidence.tracing.subjects import TracedBandit

HORIZON, ARMS = 12, 3
OWN = frozenset([__file__])
WEIGHTS = st.sampled_from([-2.0, -0.5, 0.25, 1.0, 3.0])
SCALES = st.sampled_from([0.5, 1.0, 4.0])
SLICES = st.tuples(st.integers(0, HORIZON - 1), st.integers(1, HORIZON), st.integers(1, 3))
# One release: rows, column, weight before, scale of the noise, factor afterwards, how it is written.
STEPS = st.tuples(SLICES, st.integers(0, ARMS - 1), WEIGHTS, SCALES, WEIGHTS, st.integers(0, 4))
PAIRS = tables(n_arms=ARMS, horizon=HORIZON)


def released(rewards, rng, step):
    """One release of a linear query, written in one of five ways."""
    (start, stop, stride), arm, weight, scale, factor, manner = step
    part = rewards[start:stop:stride, arm]
    if manner == 0:
        return (part.sum() * weight + rng.laplace(0, scale)) * factor
    if manner == 1:
        total = 0.0
        for x in part:
            total += weight * x
        return factor * rng.laplace(total, scale)
    if manner == 2:
        slots = np.zeros(2)
        slots[1] = rng.laplace(scale=scale)
        slots[1] += np.dot(part, np.full(len(part), weight))
        return slots[1] * factor
    if manner == 3:
        table = np.array(rewards)
        table *= weight
        noise = rng.laplace(0, scale, ARMS)
        return ((table[start:stop:stride].sum(axis=0) - noise) * factor)[arm : arm + 1]
    values = [weight * x for x in part.tolist()]
    return (sum(values) + (rng.exponential(scale) - rng.exponential(scale))) * factor


def closed_form(pair, step):
    """abs(change of the query)/scale."""
    (start, stop, stride), arm, weight, scale, _, _ = step
    left, right = pair.worlds()
    return abs(weight * (right - left)[start:stop:stride, arm].sum()) / scale


@given(PAIRS, st.lists(STEPS, min_size=1, max_size=4), st.integers(0, 3))
@settings(max_examples=80, deadline=None)
def test_linear_programs_cost_the_closed_form(pair, steps, seed):
    def play(rewards, rng):
        found = [released(rewards, rng, step) for step in steps]
        return [int(np.sum(x) > 0) for x in found]

    done = TracedBandit(play, ARMS, HORIZON, (0.0, 1.0), OWN).trace(pair, seed)
    assert not done.here.failure
    expected = sum(closed_form(pair, step) for step in steps)
    assert cost(done) == pytest.approx(expected, abs=1e-9)
    assert abs(done.loss.total) <= expected + 1e-9
    assert sum(share.cost for share in shares(done)) == pytest.approx(expected, abs=1e-9)
    assert done.leads == []


@given(PAIRS, st.lists(STEPS, min_size=2, max_size=3), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_one_draw_for_all_is_free_only_where_they_move_alike(pair, steps, seed):
    def play(rewards, rng):
        noise = rng.laplace(0, 1.0)
        out = []
        for (start, stop, stride), arm, weight, _, _, _ in steps:
            out.append(rewards[start:stop:stride, arm].sum() * weight + noise)
        return [int(x > 0) for x in out]

    done = TracedBandit(play, ARMS, HORIZON, (0.0, 1.0), OWN).trace(pair, seed)
    moves = [closed_form(pair, (*step[:3], 1.0, 1.0, 0)) * np.sign(step[2]) for step in steps]
    alike = max(moves) - min(moves) < 1e-12
    assert math.isfinite(cost(done)) == alike
    if alike:
        assert cost(done) == pytest.approx(abs(moves[0]), abs=1e-9)


@given(PAIRS, st.lists(STEPS, min_size=1, max_size=3), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_normal_noise_adds_up_in_zero_concentrated_terms(pair, steps, seed):
    def play(rewards, rng):
        out = []
        for (start, stop, stride), arm, weight, scale, _, _ in steps:
            out.append(rewards[start:stop:stride, arm].sum() * weight + rng.normal(0, scale))
        return [int(x > 0) for x in out]

    done = TracedBandit(play, ARMS, HORIZON, (0.0, 1.0), OWN).trace(pair, seed)
    assert done.loss.rho == pytest.approx(sum(closed_form(pair, step) ** 2 / 2 for step in steps), abs=1e-9)


@given(PAIRS, st.integers(0, ARMS - 1), st.integers(0, HORIZON - 1))
@settings(max_examples=40, deadline=None)
def test_an_unused_reward_pays_nothing_and_a_raw_one_shows(pair, arm, when):
    def play(rewards, rng):
        noisy = rewards[when, arm] + rng.laplace()
        return [int(noisy > 0), 0]

    def leaks(rewards, rng):
        return [int(rewards[when, arm] * 10), 0]

    touched = (pair.round, pair.arm) == (when, arm)
    subjects = [TracedBandit(f, ARMS, HORIZON, (0.0, 1.0), OWN) for f in (play, leaks)]
    right, wrong = (s.trace(TablePair(pair.left, pair.round, pair.arm, pair.value), 0) for s in subjects)
    assert (cost(right) > 0) == touched
    assert (cost(wrong) == math.inf) == touched
