"""Interactive games over many audits: a leak that only they find, and no false alarms. Seeds are fixed."""

import json

import numpy as np
import pytest
from scipy import stats

from tests.user_code.adaptive import Stalling
from verifiable_dp import make
from verifiable_dp.auditing import record_parts
from verifiable_dp.core.adversaries import restless
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.environments import Interactive, Table
from verifiable_dp.core.neighbours import InteractivePair, TablePair, pair_of
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.tapes import Divergence
from verifiable_dp.evidence.alignment.checking import Instance
from verifiable_dp.evidence.alignment.replay import replay
from verifiable_dp.evidence.alignment.searching import examine
from verifiable_dp.evidence.blackbox import adversary
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.adversary import AdversarySizes
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.test import Plan, Terms
from verifiable_dp.registry.wrapped import AlteredNoise

EPSILON = 4.0
GAME = AdversarySizes(3, 12, 3, 300, 1500, 3000)


def plain_tables(algorithm):
    """The first reward, and one in the middle, low against high, on constant tables and on a changing one."""
    shape = (algorithm.horizon, 2)
    swinging = np.zeros(shape)
    swinging[np.arange(algorithm.horizon) // 4 % 2 == 0, 0] = 1.0
    swinging[np.arange(algorithm.horizon) // 4 % 2 == 1, 1] = 1.0
    tables = [np.zeros(shape), np.full(shape, 0.5), np.ones(shape), swinging]
    places = ((0, 0), (algorithm.horizon // 2 // 4 * 4, 0))
    return [TablePair(t, r, a, 1.0 if t[r, a] < 1 else 0.0) for t in tables for r, a in places]


def on_tables(algorithm, seed):
    """The table part of an audit: the costliest transcript, and the black box."""
    pairs = plain_tables(algorithm)
    cost = max(examine(algorithm, pair, seed=seed, runs=2).cost for pair in pairs)
    sampler = AlgorithmSampler(algorithm, "actions", seed)
    plan = Plan(250, 1500, 3000)
    chosen, _ = blackbox.select(sampler, pairs, plan, delta=0.0, workers=1)
    (check,) = blackbox.put_to_test(sampler, chosen, plan, Terms(PrivacyClaim(EPSILON), seed))
    return cost, check


def play_the_game(algorithm, seed):
    instance = Instance(algorithm, EPSILON, record_parts.instance(algorithm, EPSILON))
    return adversary.play(instance, instance, GAME, Terms(algorithm.claim, seed, tests=2), visible=False)


@pytest.fixture(scope="module")
def leaky():
    return play_the_game(Stalling(EPSILON), 1)


def test_only_an_adversary_meets_the_condition():
    """On constant tables 1.5e-4 of the runs were seen to, against a restless adversary more than .99."""
    algorithm, run = Stalling(EPSILON), np.arange(10_000)
    game = InteractivePair(restless((0.0, 1.0)), 3)
    reached = [
        int((play(algorithm, data, Seeded(0), run).final.changes >= algorithm.patience).sum())
        for data in (Table(plain_tables(algorithm)[0].left), Interactive(game, 0, 2, len(run)))
    ]
    assert reached[0] <= stats.binom.isf(1e-7, len(run), 2e-4)
    assert reached[1] >= stats.binom.ppf(1e-7, len(run), 0.99)


@pytest.mark.slow
def test_tables_do_not_find_the_leak_behind_a_public_condition():
    cost, check = on_tables(Stalling(EPSILON), 1)
    assert cost == pytest.approx(EPSILON)
    assert check.verdict == "not_refuted"
    # The same audit is able to refute: with a quarter of the noise the claim fails on tables too.
    cost, check = on_tables(AlteredNoise(Stalling(EPSILON, honest=True), 0.25), 1)
    assert cost == pytest.approx(4 * EPSILON)
    assert check.verdict == "refuted"


@pytest.mark.slow
def test_the_interactive_game_finds_it(leaky):
    align, box = leaky.checks
    assert align.verdict == "inconclusive"  # actions alone are seen, so a cost settles nothing
    assert align.result["cost_over_epsilon"] == "inf"
    assert align.statistics["divergence"] == Divergence.ACTIONS
    assert box.verdict == "refuted"
    assert box.statistics["adversary"]["adversary"] == "learnt"
    assert box.result["epsilon_lower"] > 1.2 * EPSILON
    (found,) = leaky.counterexamples
    assert found["check"] == "interactive black box"


@pytest.mark.slow
def test_its_counterexample_runs_again(leaky):
    """Adversary and instance from the record's JSON: fresh runs refute; those of the honest bandit do not."""
    (found,) = json.loads(json.dumps(leaky.counterexamples))
    assert found["epsilon"] == EPSILON
    pair = pair_of(found["pair"])
    verdicts = []
    for honest in (False, True):
        algorithm = Stalling(**{**found["instance"], "honest": honest})
        sampler = AlgorithmSampler(algorithm, "actions", 99)
        plan = Plan(1, 1500, 3000)
        chosen, _ = blackbox.select(sampler, [pair], plan, delta=0.0, workers=1)
        (check,) = blackbox.put_to_test(sampler, chosen, plan, Terms(PrivacyClaim(EPSILON), 99))
        verdicts.append(check.verdict)
        cost = replay(algorithm, pair, runs=64).cost.max()
        assert cost == (pytest.approx(EPSILON) if honest else np.inf)
    assert verdicts == ["refuted", "not_refuted"]


@pytest.mark.slow
def test_the_honest_bandit_is_not_accused():
    played = play_the_game(Stalling(EPSILON, honest=True), 1)
    assert [check.verdict for check in played.checks] == ["not_refuted", "not_refuted"]
    assert not played.counterexamples
    assert played.checks[0].statistics["max_cost"] == pytest.approx(EPSILON)


# ---------------------------------------------------------------- level


AUDITS = 20
QUICK = AdversarySizes(1, 6, 1, 40, 300, 600)


def alarms(algorithm, count, alpha=0.05):
    """How many of `count` interactive black boxes refute a promise of 1 at a raised level."""
    found = []
    for seed in range(count):
        sampler = AlgorithmSampler(algorithm, "releases", seed)
        found.append(adversary.black_box(sampler, QUICK, Terms(PrivacyClaim(1.0), alpha=alpha))[0])
    return sum(check.verdict == "refuted" for check in found), found


@pytest.mark.slow
def test_learning_does_not_spoil_the_level():
    """An algorithm whose epsilon is exactly the promised one: what is learnt is tested on fresh runs."""
    right = make("dp-se", n_arms=2, epsilon=1.0, horizon=720, beta=0.999)
    number, checks = alarms(right, AUDITS)
    assert number <= stats.binom.isf(1e-7, AUDITS, 0.05)
    bounds = np.array([check.result["epsilon_lower"] for check in checks])
    assert np.sum(bounds > 1.0) <= stats.binom.isf(1e-7, AUDITS, 0.05)
    assert np.median(bounds) > 0.5
    # Negative control: with less noise than promised most audits refute.
    broken, _ = alarms(AlteredNoise(right, 1 / 1.6), 5)
    assert broken >= 4
