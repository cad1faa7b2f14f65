"""What a search for a bound takes: public arithmetic is NumPy's own; it gives up by operations."""

from __future__ import annotations

import heapq
from unittest import mock

import numpy as np
import pytest

from verifiable_dp.auditing.plans import sizes_of
from verifiable_dp.core.filled import note_placed, noting
from verifiable_dp.evidence.symbolic import boxes
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.coverage import Coverage
from verifiable_dp.evidence.symbolic.paths import WorkMeter, _explored, explore
from verifiable_dp.evidence.tracing.reach import scopes_of


def beside_arrays(rewards, rng):
    """Trains a public model in every round."""
    horizon, n_arms = rewards.shape
    half, sums = horizon // 2, np.zeros(n_arms)
    table = np.ones((60, 60))
    for t in range(half):
        weights = np.zeros(60)
        for _ in range(4):
            weights = weights - 0.001 * (table @ weights - 1)
        sums[t % n_arms] += rewards[t, t % n_arms]
    winner = int(np.argmax(sums + rng.laplace(0, 1.0, n_arms)))
    return np.r_[np.arange(half) % n_arms, np.full(horizon - half, winner)]


def by_events(rewards, rng):
    """Adds each reward when it arrives."""
    horizon, n_arms = rewards.shape
    half, events, sums = horizon // 2, [], [0.0] * n_arms
    for t in range(half):
        heapq.heappush(events, (t + 3 * (t % 5) + t / 1000, t % n_arms, rewards[t, t % n_arms]))
    while events:
        _, arm, reward = heapq.heappop(events)
        sums[arm] += reward
    winner = int(np.argmax([s + rng.laplace(0, 1.0) for s in sums]))
    return np.r_[np.arange(half) % n_arms, np.full(horizon - half, winner)]


def test_arrays_without_tracked_entries_are_not_made_of_objects():
    """Broken variant: `wrapped` that makes objects of every array."""
    real = boxes.BoxMemory.as_objects
    with mock.patch.object(boxes.BoxMemory, "as_objects", autospec=True, side_effect=real) as asked:
        found = explore(Program(beside_arrays, (20, 2), (0.0, 1.0)), 2, most=4)
    assert (found.words(), found.epsilon()) == ("", pytest.approx(1.0))
    # Such as the sums, into which rewards are written; never the table or its products.
    assert max(call.args[1].size for call in asked.call_args_list) < 60


@pytest.mark.parametrize("play", [beside_arrays, by_events])
def test_the_search_gives_up_after_as_many_operations_as_it_may_take(play):
    program = Program(play, (40, 2), (0.0, 1.0))
    meter = WorkMeter()
    scopes = scopes_of(play)
    with noting() as filled:
        note_placed(play, "data", "generator")
    found = _explored(program, 2, 60, meter, scopes, Coverage(frozenset(scopes), filled=filled))
    assert (found.words(), found.epsilon()) == ("", pytest.approx(1.0))
    again = WorkMeter(meter.spent / 2)
    less = _explored(program, 2, 60, again, scopes, Coverage(frozenset(scopes), filled=filled))
    assert less.words() == f"gave up after {again.most:,.0f} operations"
    assert 0 < len(less.paths) < len(found.paths)
    # By as much as one run goes beyond it, and the same each time.
    assert again.most < again.spent < again.most + 2 * meter.spent / len(found.paths)
    assert explore(program, 2, work=meter.spent / 2).paths[-1].number == less.paths[-1].number


def test_a_budget_of_an_audit_bounds_the_operations():
    assert sizes_of("smoke").operations < sizes_of("quick").operations < sizes_of("standard").operations
