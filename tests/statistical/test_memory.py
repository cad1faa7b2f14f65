"""Code with a memory: what a run leaves for the next speaks for no input, and counts then decide nothing."""

import numpy as np
import pytest

import verifiable_dp as vdp
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.blackbox import run_parts
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.events import join
from verifiable_dp.targets.load import adapted
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.probes import probe_play, probe_release
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

KEPT = []
TABLE = np.tile([1.0, 0.0], (6, 1))
PAIR = TablePair(TABLE, 0, 0, 0.0)
RUNS = 2000


@pytest.fixture(autouse=True)
def forgotten():
    KEPT.clear()


def pure(rewards, rng):
    """An arm by chance, more often the one that paid in the first round."""
    arm = int(rng.random() < 0.3 + 0.3 * rewards[0, 0])
    return np.full(len(rewards), arm)


def remembers(rewards, rng):
    """Plays what the run before chose, and keeps its own choice, which is private, for the next."""
    before = KEPT[-1] if KEPT else 0
    KEPT.append(int(rng.random() < 0.3 + 0.3 * rewards[0, 0]))
    return np.full(len(rewards), before)


def leaks_the_last(rewards, rng):
    """Nothing of its own input; all of the first reward of the run before."""
    before = KEPT[-1] if KEPT else 0.0
    KEPT.append(float(rewards[0, 0]))
    return np.r_[rng.integers(2, size=len(rewards) - 1), int(before > 0.5)]


class WorldByWorld(PlaySampler):
    """As runs were made: the negative control."""

    in_turn = False


def counted(kind, function):
    sampler = kind(function, False, 2, len(TABLE), seed=1, shard=700)
    plan = blackbox.Plan(probe=100, select=500, test=RUNS)
    chosen, _ = blackbox.select(sampler, [PAIR], plan, delta=0.0, workers=1)
    return blackbox.put_to_test(sampler, chosen, plan, blackbox.Terms(PrivacyClaim(0.2), 1))[0]


def test_a_memory_speaks_for_no_input():
    """Each run is independent of its input: p = 7e-14 and less where all runs of an input came together."""
    assert counted(PlaySampler, remembers).verdict == "not_refuted"
    KEPT.clear()
    assert counted(WorldByWorld, remembers).verdict == "refuted"  # control
    assert counted(PlaySampler, pure).verdict == "refuted"  # control: a run's own input, log(.6 / .3)


def test_taking_turns_changes_no_count_of_runs_that_follow_from_their_generators():
    """Nor does the number of workers, the size of a shard or a start amid the runs."""
    sampler = PlaySampler(pure, False, 2, len(TABLE), seed=1, shard=50)
    turns = run_parts.tossed(sampler, (2, 0), (120, 130), (5, 7))
    assert [len(order) for _, order in turns] == [50] * 5
    assert 0 < np.concatenate([order for _, order in turns])[:50].sum() < 50
    seen = [sampler.mixed(PAIR, 2, 0, runs, order) for runs, order in turns]
    for world, count, start in ((0, 120, 5), (1, 130, 7)):
        apart = sampler.sample(PAIR, world, 2, 0, np.arange(start, start + count))
        assert (join([one[world] for one in seen]).actions == apart.actions).all()
    by_one, by_two = counted(PlaySampler, pure), counted(WorldByWorld, pure)
    assert by_one.statistics == by_two.statistics


def test_a_shard_may_hold_runs_of_one_input_alone():
    sampler = PlaySampler(pure, False, 2, len(TABLE), seed=1, shard=1)
    found = [
        sampler.mixed(PAIR, 2, 0, runs, order) for runs, order in run_parts.tossed(sampler, (2, 0), (2, 1))
    ]
    assert sorted([left is None for left, _ in found]) == [False, False, True]


@pytest.mark.parametrize("function", [remembers, leaks_the_last])
def test_what_depends_on_the_run_before_is_inconclusive(function):
    """A right program and a leak that shows in the next run alone: counts tell them apart in neither case."""
    report = vdp.audit(function, epsilon=1, n_arms=2, horizon=12, budget="smoke")
    assert report.verdict == "inconclusive"
    checks = [check for check in report.record["checks"] if check["kind"] == "black_box"]
    assert checks
    assert all(check["statistics"]["carried"] for check in checks)
    assert {check["result"]["verdict"] for check in checks} == {"inconclusive"}
    assert "depends on the one before it" in report.record["target"]["note"]


def noisy_sum(data, rng):
    return float(np.sum(data)) + rng.laplace()


def noisy_sum_of_before(data, rng):
    KEPT.append(noisy_sum(data, rng))
    return KEPT[-2] if len(KEPT) > 1 else 0.0


def counts_calls(rewards, rng):
    """Never the same again, but not by what the run before was."""
    KEPT.append(1)
    return np.arange(len(rewards)) * len(KEPT) % 2


def test_a_memory_is_told_from_a_repeatable_run():
    tables = [TABLE, np.zeros_like(TABLE)]

    def probed(function):
        KEPT.clear()
        return probe_play(PlaySampler(function, False, 2, len(TABLE), seed=1), tables)

    assert probed(remembers).carried
    assert probed(leaks_the_last).carried
    assert probed(pure).repeatable
    assert not probed(pure).carried
    assert not probed(counts_calls).carried


def test_draws_of_a_mechanism_take_turns_where_each_is_a_call_of_its_own():
    release = adapted(lambda data, rng: noisy_sum_of_before(data, rng))[1]
    sampler = ReleaseSampler(release, seed=1)
    seen = probe_release(sampler, [np.zeros(3), np.ones(3)])
    assert seen.carried
    single = ReleaseSampler(release, seed=1, rows=1)
    pair = DataPair(np.zeros(3), np.full(3, 9.0))
    [(runs, order)] = run_parts.tossed(single, (2, 0), (300, 300))
    left, right = single.mixed(pair, 2, 0, runs, order)
    means = [one.numeric["output 1"].mean() for one in (left, right)]
    assert abs(means[0] - means[1]) < 9 * 6 / np.sqrt(
        300
    )  # of spread 13.5, either after either: six deviations
    KEPT.clear()
    apart = [single.sample(pair, w, 2, 0, np.arange(300)).numeric["output 1"].mean() for w in (0, 1)]
    assert apart[1] - apart[0] > 20  # control: world by world the last output speaks for the world
