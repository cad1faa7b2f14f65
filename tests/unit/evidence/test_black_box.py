"""The black box by itself: which runs are drawn, that none is used twice, and how tests share their level."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest

from verifiable_dp import make
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.blackbox import events, run_parts, statistics
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.events import Event
from verifiable_dp.evidence.blackbox.observations import Observation
from verifiable_dp.evidence.blackbox.scores import Codes
from verifiable_dp.evidence.blackbox.test import PROBE, SELECT, TEST, Plan, Selected, Terms
from verifiable_dp.evidence.check import judged
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.releases import DataPair, ReleaseSampler


class Noted:
    """A sampler that writes down which runs it was asked for; everything hits."""

    shard = 10

    def __init__(self):
        self.asked = []

    def sample(self, pair, world, stage, number, runs):
        self.asked.append((world, stage, number, tuple(runs.tolist())))
        return Observation(len(runs), {"x": np.ones(len(runs), np.int64)})

    def runs(self, world):
        return [run for w, _, _, runs in self.asked if w == world for run in runs]

    def stages(self):
        return {stage for _, stage, _, _ in self.asked}


ALL = Event(Codes("x", np.array([1]), np.array([1.0])), 0.5, False, 1.0, (1.0, 1.0), 10)


def test_shards_are_disjoint_and_cover_all_runs():
    for count, size in ((0, 4), (3, 4), (8, 4), (10, 4)):
        parts = run_parts.shards(count, size)
        assert [run for part in parts for run in part.tolist()] == list(range(count))
        assert all(len(part) == size for part in parts[:-1])


def test_events_are_counted_in_fresh_runs():
    """Numbered from the starts, of the stage of tests, each world by itself, none twice."""
    sampler = Noted()
    hits = blackbox.count(sampler, Selected(7, None, ALL), (25, 13), 1, starts=(100, 200))
    assert hits == (25, 13)
    assert sampler.runs(0) == list(range(100, 125))
    assert sampler.runs(1) == list(range(200, 213))
    assert sampler.stages() == {TEST}
    assert {number for _, _, number, _ in sampler.asked} == {7}


def test_stages_have_streams_of_their_own(monkeypatch):
    """Probing, choosing and testing draw from different streams, so that a choice cannot fit its test."""
    sampler = Noted()
    plan = Plan(probe=40, select=30, test=20, keep=1, finalists=2)
    monkeypatch.setattr(events, "choose", lambda *_, **__: ALL)
    chosen, _ = blackbox.select(sampler, [DataPair(0.0, 1.0)] * 3, plan, delta=0.0, workers=1)
    assert sampler.stages() == {PROBE, SELECT}
    sampler.asked.clear()
    blackbox.put_to_test(sampler, chosen, plan, Terms(PrivacyClaim(1.0)))
    assert sampler.stages() == {TEST}
    assert len(sampler.runs(0)) + len(sampler.runs(1)) == 2 * plan.test


def test_few_pairs_of_an_algorithm_are_ranked_by_one_round_as_by_two(monkeypatch):
    """The first of two rounds leaves none of eight out: it is played only for pairs that come out equal."""
    promises = {8: [0.1, 0.0, 0.5, 0.2, 0.2], 20: [1.0, 2.0, 1.0, -math.inf, -math.inf]}
    asked = []

    def gather(sampler, pair, stage, number, runs, workers):
        asked.append((runs, number))
        return runs, number

    monkeypatch.setattr(blackbox, "gather", gather)
    monkeypatch.setattr(events, "choose", lambda runs, i, _: replace(ALL, promise=promises[runs][i]))
    ranking = functools.partial(
        blackbox.rank, pairs=range(5), plan=Plan(probe=20, select=1, test=1), delta=0.0, workers=1
    )
    addressed = AlgorithmSampler(make("se", n_arms=2, horizon=4), "actions", 0)
    assert ranking(Noted()) == [1, 2, 0, 3, 4]
    assert len(asked) == 10
    asked.clear()
    assert ranking(addressed) == [1, 2, 0, 3, 4]
    assert asked == [(20, i) for i in range(5)] + [(8, i) for i in (0, 2, 3, 4)]


def test_worlds_are_tossed_by_a_fair_coin_unless_there_is_a_delta():
    """Mean and variance of 2000 tosses of 2 * 50 coins; six standard errors."""
    sizes = np.array([blackbox.coin_sizes(50, 0.0, seed, (TEST, 3)) for seed in range(2000)])
    assert (sizes.sum(axis=1) == 100).all()
    assert abs(sizes[:, 1].mean() - 50) < 6 * 5 / math.sqrt(2000)
    assert sizes[:, 1].var() == pytest.approx(25, rel=6 * math.sqrt(2 / 2000))
    assert blackbox.coin_sizes(50, 0.1, 0, (TEST, 3)) == (50, 50)


# ---------------------------------------------------------------- levels

NUMBERS = {"k1": 70, "n1": 1000, "k0": 20, "n0": 1000, "epsilon": 0.5, "alpha": 1e-6, "confidence": 0.95}


@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize("tests", [1, 2, 10])
def test_tests_share_alpha_and_the_error_of_their_bounds(tests, delta):
    found = judged("black_box", {**NUMBERS, "delta": delta, "tests": tests})
    if delta:
        counts = (70, 1000, 20, 1000)
        alone = statistics.approximate_p_value(*counts, 0.5, delta)
        lower = statistics.approximate_lower(*counts, delta, 0.05 / tests)
    else:
        alone, lower = statistics.ratio_p_value(70, 20, 0.5), statistics.ratio_lower(70, 20, 0.05 / tests)
    assert alone * 10 < 1
    assert found["p_value"] == pytest.approx(alone * tests, rel=1e-12)
    assert found["epsilon_lower"] == pytest.approx(lower, rel=1e-9)
    assert lower > 0
    assert found["verdict"] == "not_refuted"
    at = judged("black_box", {**NUMBERS, "delta": delta, "tests": tests, "alpha": alone * tests * 1.01})
    below = judged("black_box", {**NUMBERS, "delta": delta, "tests": tests, "alpha": alone * tests * 0.99})
    assert (at["verdict"], below["verdict"]) == ("refuted", "not_refuted")


def test_pairs_that_are_tested_together_share_the_level_with_other_looks():
    chosen = [Selected(number, DataPair(0.0, 1.0), ALL) for number in range(3)]
    checks = blackbox.put_to_test(Noted(), chosen, Plan(1, 1, 20), Terms(PrivacyClaim(1.0), tests=2))
    assert [check.statistics["tests"] for check in checks] == [6, 6, 6]


# ---------------------------------------------------------------- a user's runs


def noisy(rewards, rng):
    """Plays by one noisy comparison, and tells its first draw by the rest."""
    first = int(rewards[0, 0] + rng.laplace(0, 1.0) > 0.5)
    return np.array([first, *rng.integers(0, 2, len(rewards) - 1)])


def echo(rewards, rng):
    return rewards[:, 0].astype(np.int64)


PAIR = TablePair(np.zeros((40, 2)), 0, 0, 1.0)


def seen(function, world, stage=TEST, number=0, runs=20):
    sampler = PlaySampler(function, False, 2, 40, seed=5)
    found = sampler.sample(PAIR, world, stage, number, np.arange(runs))
    return found.discrete["all rounds"]


def test_a_bandit_is_played_on_both_inputs():
    assert (seen(echo, 0) != seen(echo, 1)).all()


def test_runs_worlds_stages_and_pairs_of_a_bandit_have_generators_of_their_own():
    """39 coins tell generators apart: two that differ show the same with probability 2^-39."""
    draws = [
        seen(noisy, world, stage, number)
        for world, stage, number in ((0, TEST, 0), (1, TEST, 0), (0, SELECT, 0), (0, TEST, 1))
    ]
    assert len(np.unique(np.concatenate(draws))) == 4 * 20
    assert np.array_equal(seen(noisy, 0), draws[0])


def test_runs_of_a_mechanism_have_draws_of_their_own():
    def release(data, size, rng):
        return data + rng.laplace(0, 1.0, size)

    sampler = ReleaseSampler(release, 5)
    values = [
        next(iter(sampler.sample(DataPair(0.0, 0.0), world, stage, number, runs).numeric.values()))
        for world, stage, number, runs in (
            (0, TEST, 0, np.arange(sampler.shard)),
            (0, TEST, 0, np.arange(sampler.shard, sampler.shard + 50)),
            (1, TEST, 0, np.arange(50)),
            (0, SELECT, 0, np.arange(50)),
            (0, TEST, 1, np.arange(50)),
        )
    ]
    joined = np.concatenate(values)
    assert len(np.unique(joined)) == len(joined)
