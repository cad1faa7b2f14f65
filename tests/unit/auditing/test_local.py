"""The local model: the noisy report of every reward is charged by itself."""

from __future__ import annotations

import math
import secrets

import numpy as np
import pytest

from verifiable_dp import api
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, promised
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import in_words, judged
from verifiable_dp.record import conclude
from verifiable_dp.targets.adapters import taken
from verifiable_dp.targets.roles import GivenRole

HORIZON, CLAIM = 12, 0.2
PAIRS = [TablePair(np.zeros((HORIZON, 2)), 0, 0, 1.0)]


class Reports:
    """Follows the means of reports that cost what is claimed."""

    scale = 1 / CLAIM

    def __init__(self, n_arms, rng):
        self.sums, self.pulls, self.rng = [0.0] * n_arms, [0] * n_arms, rng

    def report(self, reward, rng):
        return reward + rng.laplace(0, self.scale)

    def select(self):
        t = sum(self.pulls)
        if t < len(self.pulls):
            return t
        return int(np.argmax([s / n for s, n in zip(self.sums, self.pulls, strict=True)]))

    def update(self, arm, reward):
        self.sums[arm] += self.report(reward, self.rng)
        self.pulls[arm] += 1


class TooLittle(Reports):
    scale = 1.0


class Bits(Reports):
    chance = 1 / (1 + np.exp(-CLAIM))

    def report(self, reward, rng):
        return rng.binomial(1, 1 - self.chance + reward * (2 * self.chance - 1))


class TooTrueBits(Bits):
    chance = 1 / (1 + np.exp(-1.0))


class Signs(TooLittle):
    """What leaves is less than the noisy value, of which tracing knows the cost."""

    def report(self, reward, rng):
        return 1.0 if reward + rng.laplace(0, self.scale) > 0.5 else 0.0


class NamedOtherwise(TooLittle):
    """The collector gets a sign from a function that is not called report."""

    def update(self, arm, reward):
        self.sums[arm] += self.perturbed(reward)
        self.pulls[arm] += 1

    def perturbed(self, reward):
        return 1.0 if reward + self.rng.laplace(0, self.scale) > 0.5 else 0.0


class NamedOtherwiseButWhole(NamedOtherwise):
    """The same with the noisy value itself, which the method that chooses is the first to look at."""

    def perturbed(self, reward):
        return reward + self.rng.laplace(0, self.scale)


class Mixture(Reports):
    """A normal draw whose scale nobody knows: together they are a Laplace draw."""

    def report(self, reward, rng):
        return reward + self.scale * math.sqrt(2 * rng.exponential(1.0)) * rng.normal()


class Rounded(Reports):
    """A bit, to which whole noise is added afterwards."""

    def report(self, reward, rng):
        bit = int(rng.random() < reward)
        stop = -math.expm1(-1 / self.scale)
        return bit + int(rng.geometric(stop)) - int(rng.geometric(stop))


class TwoDraws(Reports):
    """The first draw alone would not do."""

    def report(self, reward, rng):
        return reward + rng.normal(0, 0.5) + rng.laplace(0, self.scale)


class Skipped(Reports):
    """Half of the reports say nothing of the reward, and nobody sees which: they cost less than noise."""

    scale = 1 / np.log1p(2 * np.expm1(CLAIM))

    def report(self, reward, rng):
        kept = self.coin(rng)
        return reward * kept + 0.5 * (1 - kept) + rng.laplace(0, self.scale)

    def coin(self, rng):
        return secrets.randbelow(2)


class SkippedByBits(Skipped):
    def coin(self, rng):
        return int(rng.bit_generator.random_raw()) & 1


class Collected(Reports):
    """Rewards are added up first: central privacy."""

    def update(self, arm, reward):
        if sum(self.pulls) < HORIZON // 2:
            self.sums[arm] = self.sums[arm] + reward
        self.pulls[arm] += 1

    def select(self):
        t = sum(self.pulls)
        if t < HORIZON // 2:
            return t % len(self.pulls)
        if t == HORIZON // 2:
            self.best = int(np.argmax([self.report(s, self.rng) for s in self.sums]))
        return self.best


def checked(kind, model="local"):
    _, function = taken(kind, GivenRole(CLAIM))
    inputs, effort = Inputs(2, HORIZON, pairs=PAIRS), traced.Effort(0)
    found = traced.trace(function, "x.py:x", CLAIM, inputs, 0, effort, Promise(CLAIM, model=model))
    return found[0]


@pytest.mark.parametrize(
    ("right", "wrong"), [(Reports, TooLittle), (Bits, TooTrueBits), (Reports, NamedOtherwiseButWhole)]
)
def test_a_report_that_costs_too_much_is_refuted(right, wrong):
    done = checked(wrong)
    assert done.verdict == "refuted"
    assert done.result["epsilon_lower"] == pytest.approx(1.0)
    assert judged("tracing", done.statistics) == done.result
    assert "one reward 1" in in_words(done)
    # Controls: the right one, and the same reports where only the actions are seen.
    held = checked(right)
    assert held.verdict == "not_refuted"
    assert held.result["holds"]
    assert 0.19 < held.result["epsilon_lower"] <= CLAIM
    assert held.result["detectable"] == CLAIM
    assert checked(wrong, "central").verdict == "not_refuted"


@pytest.mark.parametrize("signs", [Signs, NamedOtherwise])
def test_what_a_report_makes_of_its_noisy_value_is_not_refuted_by_it(signs):
    done = checked(signs)
    assert done.statistics["max_cost"] == pytest.approx(1.0)
    assert done.verdict == "not_refuted"
    assert not done.result["holds"]
    assert conclude.lead([done])


@pytest.mark.parametrize("hiding", [Mixture, Rounded, TwoDraws, Skipped, SkippedByBits])
def test_randomness_that_goes_into_a_report_beside_its_noise_may_hide_more(hiding):
    done = checked(hiding)
    assert float(done.statistics["max_cost"]) > CLAIM
    assert done.verdict == "not_refuted"
    assert not done.result["holds"]


class Jittered(TooLittle):
    """The noise that decides the arm has nothing to do with the report: the leak is refuted all the same."""

    def select(self):
        jitter = self.rng.normal(0, 0.1)
        return super().select() if jitter < 1 else 0


def test_randomness_of_the_choice_hides_nothing_of_a_report():
    assert checked(Jittered).verdict == "refuted"


def test_one_draw_for_several_rewards_is_no_report():
    done = checked(Collected)
    assert [lead["what"] for lead in done.statistics["leads"]] == ["shared"]
    assert not done.result["holds"]
    assert "several rounds" in conclude.lead([done])
    assert checked(Collected, "central").result["holds"]


def test_the_record_says_so_and_the_verdict_is_that_of_tracing():
    limits = {"n_arms": 2, "horizon": HORIZON, "budget": "smoke", "in_process": True}
    report = api.audit(TooLittle, epsilon=CLAIM, model="local", runs=400, **limits)
    assert report.verdict == "refuted"
    claim = report.record["claim"]
    assert (claim["observe"], claim["trust_model"]) == ("reports", "local")
    assert report.record["target"]["model"] == "local"
    assert promised(report.record["plan"], claim) == Promise(CLAIM, 0.0, model="local")


@pytest.mark.parametrize(
    ("promise", "inputs", "said"),
    [
        ({"delta": 1e-6}, {}, "delta 0"),
        ({"group": 2}, {}, "group"),
        ({"adjacency": "zero-out"}, {}, "adjacency"),
        ({}, {"contexts": 3}, "only without contexts"),
    ],
)
def test_what_does_not_fit_the_local_model_is_refused(promise, inputs, said):
    AuditRequest(None, "x", Promise(CLAIM, model="local"), Inputs(2, HORIZON))
    with pytest.raises(InputError, match=said):
        AuditRequest(None, "x", Promise(CLAIM, model="local", **promise), Inputs(2, HORIZON, **inputs))


def test_what_cannot_be_traced_has_no_local_model():
    def play_many(rewards, n_runs, rng):
        return rng.integers(2, size=(n_runs, len(rewards)))

    with pytest.raises(InputError, match="traced"):
        api.audit(play_many, epsilon=CLAIM, model="local", n_arms=2, horizon=HORIZON, in_process=True)
    with pytest.raises(InputError, match="your own code"):
        api.audit("dp-se", epsilon=CLAIM, model="local")


def half_reported(rewards, rng):
    """Half of the reports are of a fixed number, and nobody sees which: they cost less than their noise."""
    horizon, n_arms = rewards.shape
    arms, sums = [], np.zeros(n_arms)
    for t in range(horizon):
        arms.append(t % n_arms if t < horizon // 2 else int(np.argmax(sums)))
        value = rewards[t, arms[t]] if rng.random() < 0.5 else 0.5
        sums[arms[t]] += value + rng.laplace(0, 1)
    return np.array(arms)


def test_reports_that_a_coin_may_replace_are_not_refuted_by_what_their_noise_costs():
    claim = np.log1p(0.5 * np.expm1(1))  # subsampling of a report that costs 1
    pairs = [TablePair(np.zeros((HORIZON, 2)), t, t % 2, 1.0) for t in range(HORIZON // 2)]
    inputs, effort = Inputs(2, HORIZON, pairs=pairs), traced.Effort(0)
    found = traced.trace(half_reported, "x.py:x", claim, inputs, 0, effort, Promise(claim, model="local"))
    check = found[0]
    assert check.statistics["max_cost"] == pytest.approx(1.0)
    assert check.result["verdict"] == "not_refuted"
    assert not check.result["holds"]
